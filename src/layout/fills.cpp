#include <algorithm>
#include <optional>
#include <string>

#include "layout/stages.hpp"

/// Decides which memory is filled centrally, at the start of the run.
namespace stowage::layout {
namespace {

bool is_in_loop(const Graph& graph, ScopeId scope) {
  for (; scope.index() != 0; scope = graph.scope(scope).parent) {
    if (graph.op(graph.scope(scope).op).control == Control::loop) return true;
  }
  return false;
}

/// The batch that an op runs in: that of the root op that contains it.
const std::string& batch_of(const Graph& graph, OpId op) {
  while (graph.scope_of(op).index() != 0) op = graph.scope(graph.scope_of(op)).op;
  return graph.op(op).batch;
}

/// By memory: the fill value of the ops with a batch label, and whether they all use the same one.
class LabelledFills {
 public:
  explicit LabelledFills(const Graph& graph) : values_(graph.memories().size()) {
    for (std::size_t k = 0; k < graph.ops().size(); ++k) {
      const Op& op = graph.ops()[k];
      if (op.zero_fill.empty() || batch_of(graph, OpId(k)).empty()) continue;
      for_each_memory(graph, op, [&](std::size_t memory) { add(values_[memory], op.zero_fill.value); });
    }
  }

  [[nodiscard]] bool agree(const Graph& graph, const Op& op) const {
    bool agree = true;
    for_each_memory(graph, op, [&](std::size_t memory) { agree = agree && !values_[memory].several; });
    return agree;
  }

 private:
  struct Value {
    std::optional<std::uint8_t> value;
    bool several = false;
  };

  static void add(Value& known, std::uint8_t value) {
    known.several = known.several || (known.value && *known.value != value);
    known.value = value;
  }

  template <class F>
  static void for_each_memory(const Graph& graph, const Op& op, F&& f) {
    for (const std::uint32_t output : op.zero_fill.outputs) f(graph.tensor(op.outputs[output]).memory.index());
    for (const std::uint32_t workspace : op.zero_fill.workspaces) f(op.workspaces[workspace].memory.index());
  }

  std::vector<Value> values_;
};

/// Whether no other op accesses the outputs that `op` wants filled before `op` runs.
bool is_first_to_touch(const Sharing& sharing, const Accesses& all, const Op& op, std::optional<Step> begin) {
  return std::all_of(op.zero_fill.outputs.begin(), op.zero_fill.outputs.end(), [&](std::uint32_t output) {
    const std::span<const Step> accesses = all[sharing.class_of(op.outputs[output])];
    return !begin || accesses.empty() || accesses.front() == *begin;
  });
}

}  // namespace

/// A fill is central unless the op is in a loop, other ops use the memory before it, or another batch needs another
/// value in the same memory.
std::vector<char> find_central_fills(const Graph& graph, const AnalysisOptions& options, const Sharing& sharing,
                                     const Timeline& timeline, const Accesses& accesses) {
  const bool any =
      std::any_of(graph.ops().begin(), graph.ops().end(), [](const Op& op) { return !op.zero_fill.empty(); });
  if (!any) return {};
  const LabelledFills labelled(graph);
  std::vector<char> central(graph.ops().size(), 0);
  for (std::size_t k = 0; k < graph.ops().size() && options.zero_fill == FillPolicy::central; ++k) {
    const Op& op = graph.ops()[k];
    if (op.zero_fill.empty() || is_in_loop(graph, graph.scope_of(OpId(k)))) continue;
    if (!batch_of(graph, OpId(k)).empty() && !labelled.agree(graph, op)) continue;
    const std::span<const Interval> spans = timeline.spans(OpId(k));
    const std::optional<Step> begin =
        spans.empty() ? std::nullopt : std::optional(timeline.with_copies(spans.front()).lower);
    central[k] = is_first_to_touch(sharing, accesses, op, begin) ? 1 : 0;
  }
  return central;
}

}  // namespace stowage::layout
