#include "support/judges/shadow/families.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>

namespace stowage::testing {
namespace {

/// An address relative to the start of some representative tensor.
struct Relative {
  std::size_t tensor = 0;
  std::int64_t offset = 0;
};

/// Union-find over tensors that knows the distance of each from its representative.
class Distances {
 public:
  explicit Distances(std::size_t count) : parents_(count) {
    for (std::size_t i = 0; i < count; ++i) parents_[i] = {i, 0};
  }

  [[nodiscard]] Relative find(std::size_t tensor) const {
    Relative at{tensor, 0};
    while (parents_[at.tensor].tensor != at.tensor) {
      const Relative up = parents_[at.tensor];
      at = {up.tensor, at.offset + up.offset};
    }
    return at;
  }

  /// From now on `tensor` starts `offset` bytes after the start of `base`.
  void join(std::size_t tensor, std::size_t base, std::int64_t offset) {
    const Relative a = find(tensor);
    const Relative b = find(base);
    if (a.tensor != b.tensor) parents_[a.tensor] = {b.tensor, b.offset + offset - a.offset};
  }

 private:
  std::vector<Relative> parents_;
};

bool is_carried(const Scope& scope, TensorId inner) {
  return std::any_of(scope.carried.begin(), scope.carried.end(), [&](const Carried& pair) { return pair.in == inner; });
}

Distances distances(const Graph& graph) {
  Distances result(graph.tensors().size());
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const ViewOf root = graph.root(TensorId(i));
    result.join(i, root.tensor.index(), root.offset.value());
  }
  for (const Op& op : graph.ops()) {
    for (const Alias& alias : op.aliases) {
      const std::optional<TensorId>& input = op.inputs[alias.input];
      if (input) result.join(op.outputs[alias.output].index(), input->index(), alias.offset.value());
    }
  }
  for (const Scope& scope : graph.scopes()) {
    for (const BodyInput& pair : scope.inputs) {
      if (!is_carried(scope, pair.inner)) result.join(pair.inner.index(), pair.outer.index(), 0);
    }
  }
  return result;
}

std::int64_t floor_div(std::int64_t value, std::int64_t by) {
  return value >= 0 ? value / by : -((-value + by - 1) / by);
}

}  // namespace

Families find_families(const Graph& graph, Bytes granularity) {
  const std::int64_t cell = granularity.value();
  const Distances all = distances(graph);
  const std::size_t count = graph.tensors().size();
  std::vector<std::int64_t> lowest(count, std::numeric_limits<std::int64_t>::max());
  for (std::size_t i = 0; i < count; ++i) {
    const Relative at = all.find(i);
    lowest[at.tensor] = std::min(lowest[at.tensor], floor_div(at.offset, cell));
  }

  Families result;
  std::map<std::size_t, std::size_t> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const Relative at = all.find(i);
    const std::size_t family = numbers.try_emplace(at.tensor, numbers.size()).first->second;
    // A scope comes before the bodies inside it.
    if (family == result.families.size()) result.families.push_back({.home = graph.scope_of(TensorId(i))});
    const Tensor& tensor = graph.tensors()[i];
    const std::int64_t first = floor_div(at.offset, cell);
    const std::int64_t last = floor_div(at.offset + tensor.size.value() + cell - 1, cell);
    const std::size_t cells = tensor.size == Bytes{} ? 0 : static_cast<std::size_t>(last - first);
    const Seat seat{family, static_cast<std::size_t>(first - lowest[at.tensor]), cells};
    result.families[family].cells = std::max(result.families[family].cells, seat.first + seat.count);
    result.families[family].flags |= tensor.flags;
    result.seats.push_back(seat);
  }
  return result;
}

}  // namespace stowage::testing
