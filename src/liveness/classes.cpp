#include "liveness/classes.hpp"

#include <algorithm>
#include <optional>

#include "graph/alias_classes.hpp"

namespace stowage::liveness {
namespace {

/// Numbers the classes by their first tensor and places every tensor relative to its class's representative.
void number_classes(const Graph& graph, Liveness& result) {
  OffsetUnion joined = join_aliases(graph);
  std::vector<std::optional<ClassId>> number(graph.tensors().size());
  result.places.reserve(graph.tensors().size());
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const Graph::Root root = graph.root(TensorId(t));
    const OffsetUnion::Place place = joined.find(root.tensor.index());
    std::optional<ClassId>& id = number[place.representative];
    if (!id) {
      id = ClassId(result.classes.size());
      result.classes.push_back(AliasClass{.memory = graph.tensor(TensorId(t)).memory,
                                          .size = {},
                                          .alignment = Bytes(1),
                                          .flags = {},
                                          .life = {},
                                          .storage = {},
                                          .offset = {}});
    }
    result.places.push_back({*id, place.offset + root.offset});
  }
}

}  // namespace

void form_classes(const Graph& graph, Liveness& result) {
  number_classes(graph, result);

  std::vector<Bytes> lowest(result.classes.size(), kMaxBytes);
  for (const ClassPlace& place : result.places) lowest[place.id.index()] = std::min(lowest[place.id.index()], place.offset);
  for (std::size_t t = 0; t < result.places.size(); ++t) {
    ClassPlace& place = result.places[t];
    AliasClass& klass = result.classes[place.id.index()];
    const Tensor& tensor = graph.tensor(TensorId(t));
    place.offset -= lowest[place.id.index()];
    klass.size = std::max(klass.size, place.offset + tensor.size);
    klass.alignment = std::max(klass.alignment, graph.alignment(TensorId(t)));
    klass.flags |= tensor.flags;
  }
}

void collect_accesses(const Graph& graph, Liveness& result) {
  const auto visit = [&](auto&& f) {
    std::vector<std::size_t> last(result.classes.size(), graph.ops().size());
    for (std::size_t k = 0; k < graph.ops().size(); ++k) {
      const Op& op = graph.ops()[k];
      if (op.no_task) continue;
      const auto touch = [&](TensorId tensor) {
        const std::size_t id = result.places[tensor.index()].id.index();
        if (last[id] != k) f(id, k);
        last[id] = k;
      };
      for (const std::optional<TensorId>& input : op.inputs) {
        if (input) touch(*input);
      }
      for (const TensorId output : op.outputs) touch(output);
    }
  };
  result.access_begin.assign(result.classes.size() + 1, 0);
  visit([&](std::size_t id, std::size_t) { ++result.access_begin[id + 1]; });
  for (std::size_t i = 0; i < result.classes.size(); ++i) result.access_begin[i + 1] += result.access_begin[i];
  result.access_steps.resize(result.access_begin.back());
  std::vector<std::size_t> next(result.access_begin.begin(), result.access_begin.end() - 1);
  visit([&](std::size_t id, std::size_t k) { result.access_steps[next[id]++] = Step(static_cast<std::int64_t>(k)); });
}

namespace {

Residence residence_of(const AliasClass& klass, bool accessed) {
  if (klass.flags.has(TensorFlag::external)) return Residence::external;
  if (klass.flags.any_of({TensorFlag::constant, TensorFlag::variable})) return Residence::persistent;
  if (accessed || klass.flags.any_of({TensorFlag::input, TensorFlag::output})) return Residence::shared;
  return Residence::nowhere;
}

bool is_never_over(const AliasClass& klass, const LivenessOptions& options) {
  const bool kept_input = klass.flags.has(TensorFlag::input) && options.keep_inputs;
  return klass.whole_run || kept_input || klass.flags.has(TensorFlag::output) || klass.residence == Residence::persistent;
}

Interval life_of(const AliasClass& klass, std::span<const Step> accesses, Step horizon) {
  // An output that nobody writes still has an address, which nobody else may use.
  const bool from_the_start = klass.whole_run || klass.flags.has(TensorFlag::input) || klass.residence == Residence::persistent;
  const Step lower = from_the_start || accesses.empty() ? Step(0) : accesses.front();
  if (klass.never_over) return {lower, horizon};
  return {lower, accesses.empty() ? Step(1) : accesses.back() + Step(1)};
}

}  // namespace

void find_lives(const Graph& graph, const LivenessOptions& options, Liveness& result) {
  result.horizon = Step(std::max<std::int64_t>(1, static_cast<std::int64_t>(graph.ops().size())));
  for (AliasClass& klass : result.classes) klass.whole_run = options.no_reuse || klass.flags.has(TensorFlag::no_reuse);
  for (const Op& op : graph.ops()) {
    if (!op.no_reuse) continue;
    for (const TensorId output : op.outputs) result.classes[result.places[output.index()].id.index()].whole_run = true;
  }
  for (std::size_t i = 0; i < result.classes.size(); ++i) {
    AliasClass& klass = result.classes[i];
    const std::span<const Step> accesses = result.accesses(ClassId(i));
    klass.residence = residence_of(klass, !accesses.empty());
    klass.never_over = is_never_over(klass, options);
    klass.life = life_of(klass, accesses, result.horizon);
  }
}

}  // namespace stowage::liveness
