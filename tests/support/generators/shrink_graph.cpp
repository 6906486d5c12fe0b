#include "support/generators/shrink_graph.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace stowage::testing {
namespace {

class Shrinker {
 public:
  Shrinker(const Graph& graph, std::uint64_t seed) : random_(seed), graph_(graph.description()) {
    halve_ = chance(50);
    shrink_percent_ = chance(60) ? 0 : 20;
    move_percent_ = chance(50) ? 0 : 40;
    alias_percent_ = chance(85) ? 0 : 30;
  }

  [[nodiscard]] std::optional<Graph> run() {
    for (Tensor& tensor : graph_.tensors) {
      tensor.view_of ? shrink_view(tensor) : shrink(tensor.size);
    }
    for (Op& op : graph_.ops) {
      for (Workspace& workspace : op.workspaces) shrink(workspace.size);
      for (Alias& alias : op.aliases) {
        if (halve_) alias.offset = Bytes(alias.offset.value() / 2);
        if (chance(alias_percent_)) alias.offset = part(alias.offset);
      }
    }
    Result<Graph> built = Graph::build(std::move(graph_));
    if (!built) return std::nullopt;
    return std::move(built).value();
  }

 private:
  bool chance(std::uint64_t percent) { return random_() % 100 < percent; }
  Bytes part(Bytes whole) {
    return Bytes(static_cast<std::int64_t>(random_() % (static_cast<std::uint64_t>(whole.value()) + 1)));
  }

  void shrink(Bytes& size) {
    if (halve_) size = Bytes(size.value() / 2);
    if (chance(shrink_percent_)) size = part(size);
  }

  /// Bases come first in the list.
  void shrink_view(Tensor& tensor) {
    shrink(tensor.size);
    Bytes& offset = tensor.view_of->offset;
    if (halve_) offset = Bytes(offset.value() / 2);
    const Bytes space = graph_.tensors[tensor.view_of->tensor.index()].size;
    if (chance(move_percent_)) offset = Bytes(part(space).value() / 8 * 8);
    offset = std::min(offset, space);
    tensor.size = std::min(tensor.size, space - offset);
  }

  std::mt19937_64 random_;
  GraphDescription graph_;
  bool halve_ = false;
  std::uint64_t shrink_percent_ = 0;
  std::uint64_t move_percent_ = 0;
  std::uint64_t alias_percent_ = 0;
};

}  // namespace

std::optional<Graph> shrink_graph(const Graph& graph, std::uint64_t seed) { return Shrinker(graph, seed).run(); }

}  // namespace stowage::testing
