#include <algorithm>
#include <set>

#include "graph/interface/relations.hpp"
#include "liveness/classes.hpp"

/// Where each class's memory comes from, and who may be bound to the caller's own buffer.
namespace stowage::liveness {
namespace {

bool has_name(const std::set<std::string_view>& names, const std::string& name) { return !names.empty() && names.contains(name); }

bool is_in_loop(const Graph& graph, ScopeId scope) {
  for (; scope.index() != 0; scope = graph.scope(scope).parent) {
    if (graph.op(graph.scope(scope).op).control == Control::loop) return true;
  }
  return false;
}

/// The batch that an op runs in: that of the root op that it is inside of.
const std::string& batch_of(const Graph& graph, OpId op) {
  while (graph.scope_of(op).index() != 0) op = graph.scope(graph.scope_of(op)).op;
  return graph.op(op).batch;
}

/// By memory: the one value that all labelled ops want, as long as they agree.
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

/// Whether nobody touches before the op what it wants filled.
bool is_first_to_touch(const Liveness& result, const Op& op, OpId id) {
  const std::span<const Interval> spans = result.timeline.spans(id);
  return std::all_of(op.zero_fill.outputs.begin(), op.zero_fill.outputs.end(), [&](std::uint32_t output) {
    const std::span<const Step> accesses = result.accesses(result.places[op.outputs[output].index()].id);
    return spans.empty() || accesses.empty() || accesses.front() == spans.front().lower;
  });
}

/// Before everything, unless the op runs several times, others use the memory before it, or another batch wants another value
/// there.
void find_fills(const Graph& graph, const LivenessOptions& options, Liveness& result) {
  const bool any = std::any_of(graph.ops().begin(), graph.ops().end(), [](const Op& op) { return !op.zero_fill.empty(); });
  if (!any) return;
  const LabelledFills labelled(graph);
  result.central_fills.assign(graph.ops().size(), 0);
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    const bool once = !is_in_loop(graph, graph.scope_of(OpId(k))) &&
                      (batch_of(graph, OpId(k)).empty() || labelled.agree(graph, op)) && is_first_to_touch(result, op, OpId(k));
    result.central_fills[k] = !op.zero_fill.empty() && options.zero_fill == FillPolicy::central && once ? 1 : 0;
    for (const std::uint32_t output : op.zero_fill.outputs) {
      AliasClass& klass = result.classes[result.places[op.outputs[output].index()].id.index()];
      klass.filled = true;
      klass.from_start = klass.from_start || result.central_fills[k] != 0;
    }
  }
}

void mark_no_reuse(const Graph& graph, const LivenessOptions& options, Liveness& result) {
  const std::set<std::string_view> names(options.no_reuse_names.begin(), options.no_reuse_names.end());
  for (AliasClass& klass : result.classes) klass.whole_run = options.no_reuse || klass.flags.has(TensorFlag::no_reuse);
  for (std::size_t t = 0; t < graph.tensors().size() && !names.empty(); ++t) {
    if (has_name(names, graph.tensors()[t].name)) result.classes[result.places[t].id.index()].whole_run = true;
  }
  result.no_reuse_ops.assign(names.empty() ? 0 : graph.ops().size(), 0);
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (!op.no_reuse && !has_name(names, op.name)) continue;
    if (!names.empty()) result.no_reuse_ops[k] = 1;
    for (const TensorId output : op.outputs) result.classes[result.places[output.index()].id.index()].whole_run = true;
  }
}

void mark_fixed(const Graph& graph, Liveness& result) {
  const auto mark = [&](TensorId tensor) { result.classes[result.places[tensor.index()].id.index()].fixed = true; };
  for (const Op& op : graph.ops()) {
    if (!op.fixed_address) continue;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) mark(*input);
    }
    std::for_each(op.outputs.begin(), op.outputs.end(), mark);
  }
}

void mark_carried(const Graph& graph, Liveness& result) {
  for (const Scope& scope : graph.scopes()) {
    for (const Carried& pair : scope.carried) {
      result.classes[result.places[pair.in.index()].id.index()].carried = true;
      result.classes[result.places[pair.out.index()].id.index()].carried = true;
    }
  }
}

void mark_grouped(const Graph& graph, Liveness& result) {
  for (const Group& group : graph.relations().groups) {
    for (const GroupMember& member : group.members)
      result.classes[result.places[member.tensor.index()].id.index()].grouped = true;
    if (group.whole) result.classes[result.places[group.whole->index()].id.index()].grouped = true;
  }
}

Residence residence_of(const AliasClass& klass, bool accessed) {
  if (klass.flags.has(TensorFlag::external)) return Residence::external;
  if (klass.flags.any_of({TensorFlag::constant, TensorFlag::variable})) return Residence::persistent;
  if (accessed || klass.flags.any_of({TensorFlag::input, TensorFlag::output})) return Residence::shared;
  return Residence::nowhere;
}

/// Decides for each tensor that asks for it whether it can lie in the caller's buffer.
class ZeroCopy {
 public:
  ZeroCopy(const Graph& graph, const LivenessOptions& options, Liveness& result)
      : graph_(graph), options_(options), result_(result), facts_(result.classes.size()) {
    for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
      Facts& facts = facts_[result.places[t].id.index()];
      facts.in_body = facts.in_body || graph.scope_of(TensorId(t)).index() != 0;
      facts.outputs += graph.tensors()[t].flags.has(TensorFlag::output) ? 1 : 0;
      facts.asking += graph.tensors()[t].flags.has(TensorFlag::zero_copy) ? 1 : 0;
    }
    for (const Scope& scope : graph.scopes()) {
      for (const BodyInput& pair : scope.inputs) facts_[result.places[pair.outer.index()].id.index()].in_body = true;
      for (const BodyOutput& pair : scope.outputs) facts_[result.places[pair.outer.index()].id.index()].in_body = true;
    }
  }

  void run() {
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      if (graph_.tensors()[t].flags.has(TensorFlag::zero_copy)) settle(TensorId(t));
    }
  }

 private:
  struct Facts {
    bool in_body = false;
    int outputs = 0;
    int asking = 0;
  };

  void settle(TensorId id) {
    const Tensor& tensor = graph_.tensor(id);
    if (const char* const reason = obstacle(id)) {
      result_.notes.emplace_back(id, std::string("not zero-copy: ") + reason);
      return;
    }
    if (tensor.flags.has(TensorFlag::input) && !tensor.flags.has(TensorFlag::output) &&
        tensor.size <= options_.fuse_inputs_up_to) {
      result_.fused.push_back(id);
      result_.notes.emplace_back(id, "not zero-copy: small enough to be copied in together with the other small inputs");
      return;
    }
    result_.classes[result_.places[id.index()].id.index()].residence = Residence::bound;
    result_.bound.push_back(id);
  }

  [[nodiscard]] const char* obstacle(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    const ClassPlace place = result_.places[id.index()];
    const AliasClass& klass = result_.classes[place.id.index()];
    const Facts& facts = facts_[place.id.index()];
    if (facts.in_body) return "its memory is used in a body";
    if (!tensor.flags.any_of({TensorFlag::input, TensorFlag::output})) return "it is neither an input nor an output of the graph";
    if (tensor.flags.has(TensorFlag::shape_data) && !graph_.batches().empty())
      return "it is the shape data of a graph with batches";
    if (graph_.memory(tensor.memory).kind == "p2p") return "its memory is of kind p2p";
    if (klass.flags.any_of(kOwnAddress)) return "it shares memory with a constant, variable or external tensor";
    if (facts.asking > 1 || facts.outputs > 1) return "it shares memory with another input or output";
    if (place.offset != Bytes(0) || tensor.size != klass.size) return "it is only a part of what shares its memory";
    if (klass.grouped) return "an op wants it next to others";
    if (klass.fixed) return "an op that needs one address in every run touches it";
    if (klass.filled) return "it must be filled";
    return nullptr;
  }

  const Graph& graph_;
  const LivenessOptions& options_;
  Liveness& result_;
  std::vector<Facts> facts_;  ///< By class.
};

/// The parts of a constant or variable that a split without copies gives out are such themselves, unless
/// somebody else writes them.
void split_own_addresses(const Graph& graph, Liveness& result) {
  std::vector<int> writers(result.classes.size());
  for (const Op& op : graph.ops()) {
    for (const TensorId output : op.outputs) writers[result.places[output.index()].id.index()] += op.no_task ? 0 : 1;
  }
  for (const Group& group : graph.relations().groups) {
    if (group.side != GroupSide::outputs || group.kind != Contiguity::packed) continue;
    const Residence whole = result.classes[result.places[group.whole->index()].id.index()].residence;
    if (whole != Residence::persistent) continue;
    for (const GroupMember& member : group.members) {
      const std::size_t id = result.places[member.tensor.index()].id.index();
      const int own = graph.op(group.op).no_task ? 0 : 1;
      const bool shared = result.classes[id].residence == Residence::shared && result.classes[id].size > Bytes(0);
      if (writers[id] == own && shared) result.classes[id].residence = whole;
    }
  }
}

bool has_flag(const Graph& graph, TensorFlag flag) {
  return std::any_of(graph.tensors().begin(), graph.tensors().end(),
                     [&](const Tensor& tensor) { return tensor.flags.has(flag); });
}

}  // namespace

void find_residences(const Graph& graph, const LivenessOptions& options, Liveness& result) {
  mark_no_reuse(graph, options, result);
  mark_fixed(graph, result);
  mark_grouped(graph, result);
  mark_carried(graph, result);
  find_fills(graph, options, result);
  for (std::size_t i = 0; i < result.classes.size(); ++i)
    result.classes[i].residence = residence_of(result.classes[i], !result.accesses(ClassId(i)).empty());
  for (const Op& op : graph.ops()) {
    if (!op.prefetch) continue;
    for (const TensorId output : op.outputs) result.classes[result.places[output.index()].id.index()].residence = Residence::pool;
  }
  split_own_addresses(graph, result);
  if (has_flag(graph, TensorFlag::zero_copy)) ZeroCopy(graph, options, result).run();
}

}  // namespace stowage::liveness
