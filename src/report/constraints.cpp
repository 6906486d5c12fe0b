#include "report/constraints.hpp"

#include <algorithm>

/// What can be dropped, as a table: a name, what is there instead, and a function that drops it from a description and options
/// and says whether there was anything to drop.
namespace stowage::report {
namespace {

using Drop = bool (*)(GraphDescription&, PlanOptions&);

/// Sets `field` to `value`; whether that is a change.
template <class Field>
bool set(Field& field, Field value) {
  if (field == value) return false;
  field = std::move(value);
  return true;
}

/// `change` for every op, those in bodies too; whether any of them changed.
template <class Change>
bool each_op(std::vector<Op>& ops, Change change) {
  bool changed = false;
  for (Op& op : ops) {
    changed = change(op) || changed;
    for (Body& body : op.bodies) changed = each_op(body.ops, change) || changed;
  }
  return changed;
}

template <class Change>
bool each_body_tensor(std::vector<Op>& ops, Change change) {
  return each_op(ops, [&](Op& op) {
    bool changed = false;
    for (Body& body : op.bodies) {
      for (Tensor& tensor : body.tensors) changed = change(tensor) || changed;
    }
    return changed;
  });
}

template <class Change>
bool each_tensor(GraphDescription& graph, Change change) {
  bool changed = false;
  for (Tensor& tensor : graph.tensors) changed = change(tensor) || changed;
  return each_body_tensor(graph.ops, change) || changed;
}

bool drop_flags(Tensor& tensor, TensorFlags flags) { return set(tensor.flags, tensor.flags.without(flags)); }

bool drop_contiguity(GraphDescription& graph, Contiguity kind) {
  return each_op(graph.ops, [&](Op& op) {
    const bool inputs = op.contiguous_inputs == kind && set(op.contiguous_inputs, Contiguity::none);
    const bool outputs = op.contiguous_outputs == kind && set(op.contiguous_outputs, Contiguity::none);
    return inputs || outputs;
  });
}

bool drop_padded(GraphDescription& graph, PlanOptions&) { return drop_contiguity(graph, Contiguity::padded); }
bool drop_packed(GraphDescription& graph, PlanOptions&) { return drop_contiguity(graph, Contiguity::packed); }

bool drop_central_fill(GraphDescription& graph, PlanOptions& options) {
  const bool fills = each_op(graph.ops, [](Op& op) { return !op.zero_fill.empty(); });
  return fills && set(options.zero_fill, FillPolicy::separate);
}

bool drop_keep_inputs(GraphDescription&, PlanOptions& options) { return set(options.keep_inputs, false); }

bool drop_outputs(GraphDescription& graph, PlanOptions&) {
  return each_tensor(graph, [](Tensor& tensor) {
    if (tensor.flags.has(TensorFlag::zero_copy)) return false;
    return drop_flags(tensor, TensorFlag::output);
  });
}

bool drop_no_reuse(GraphDescription& graph, PlanOptions& options) {
  bool changed = set(options.no_reuse, false);
  changed = set(options.no_reuse_names, {}) || changed;
  changed = each_tensor(graph, [](Tensor& tensor) { return drop_flags(tensor, TensorFlag::no_reuse); }) || changed;
  return each_op(graph.ops,
                 [](Op& op) {
                   bool dropped = set(op.no_reuse, false);
                   for (Workspace& workspace : op.workspaces) dropped = set(workspace.no_reuse, false) || dropped;
                   return dropped;
                 }) ||
         changed;
}

bool drop_fixed_addresses(GraphDescription& graph, PlanOptions& options) {
  if (options.base != AddressBase::refreshable) return false;  // with a fixed base every address is
  return each_op(graph.ops, [](Op& op) { return set(op.fixed_address, false); });
}

bool drop_alignment(GraphDescription& graph, PlanOptions&) {
  bool changed = false;
  for (Memory& memory : graph.memories) changed = set(memory.alignment, Bytes(1)) || changed;
  changed = each_tensor(graph, [](Tensor& tensor) { return set(tensor.alignment, {}); }) || changed;
  return each_op(graph.ops,
                 [](Op& op) {
                   bool dropped = false;
                   for (Workspace& workspace : op.workspaces) dropped = set(workspace.alignment, {}) || dropped;
                   return dropped;
                 }) ||
         changed;
}

bool drop_streams(GraphDescription& graph, PlanOptions&) {
  return each_op(graph.ops, [](Op& op) { return set(op.stream, StreamId(0)); });
}

bool drop_in_place(GraphDescription& graph, PlanOptions& options) {
  const bool pairs = each_op(graph.ops, [](Op& op) { return !op.in_place.empty(); });
  return pairs && set(options.in_place, false);
}

bool allow_in_place(GraphDescription& graph, PlanOptions& options) {
  const bool pairs = each_op(graph.ops, [](Op& op) { return !op.in_place.empty(); });
  return pairs && set(options.in_place, true);
}

bool drop_limits(GraphDescription& graph, PlanOptions& options) {
  bool changed = set(options.region_limit, {});
  for (Memory& memory : graph.memories) changed = set(memory.max_size, {}) || changed;
  return changed;
}

bool drop_batches(GraphDescription& graph, PlanOptions&) {
  return each_op(graph.ops, [](Op& op) { return set(op.batch, {}); });
}

bool drop_batch_start(GraphDescription&, PlanOptions& options) { return set(options.batch_start, BatchStart::free); }

bool drop_zero_copy(GraphDescription& graph, PlanOptions& options) {
  options.fuse_inputs_up_to = Bytes(0);
  return each_tensor(graph, [](Tensor& tensor) { return drop_flags(tensor, {TensorFlag::zero_copy, TensorFlag::reusable}); });
}

bool drop_fusing(GraphDescription&, PlanOptions& options) { return set(options.fuse_inputs_up_to, Bytes(0)); }

bool drop_rings(GraphDescription& graph, PlanOptions&) {
  const bool dropped = each_op(graph.ops, [](Op& op) { return set(op.prefetch, {}); });
  if (dropped) graph.pools.clear();
  return dropped;
}

bool drop_session(GraphDescription& graph, PlanOptions&) {
  return each_op(graph.ops, [](Op& op) {
    bool dropped = false;
    for (Workspace& workspace : op.workspaces) dropped = set(workspace.scope, WorkspaceScope::op) || dropped;
    return dropped;
  });
}

struct Entry {
  const char* constraint;
  const char* without;
  Drop drop;
};

constexpr Entry kEntries[] = {
    {"contiguous groups, padded", "members lie anywhere", drop_padded},
    {"contiguous groups, packed", "those ops copy", drop_packed},
    {"zero fill at the start", "each fill right before its op", drop_central_fill},
    {"inputs kept to the end", "inputs live to their last read", drop_keep_inputs},
    {"outputs kept to the end", "outputs live to their last use", drop_outputs},
    {"no reuse", "everything may be reused", drop_no_reuse},
    {"fixed addresses", "one arena, which may move", drop_fixed_addresses},
    {"alignment", "alignment 1", drop_alignment},
    {"several streams", "all ops on one stream", drop_streams},
    {"in place where allowed", "no output overwrites an input", drop_in_place},
    {"nothing in place", "outputs overwrite inputs where allowed", allow_in_place},
    {"largest buffer", "buffers of any size", drop_limits},
    {"batches", "all batches run", drop_batches},
    {"batches start alike", "groups of batches start anywhere", drop_batch_start},
    {"zero copy", "callers' tensors lie in our memory", drop_zero_copy},
    {"fused inputs", "small inputs lie in callers' buffers", drop_fusing},
    {"prefetch rings", "prefetched tensors are like any other", drop_rings},
    {"session workspaces", "workspaces live during their op", drop_session},
};

}  // namespace

std::vector<Relaxed> relaxed(const Graph& graph, const PlanOptions& options) {
  std::vector<Relaxed> list;
  for (const Entry& entry : kEntries) {
    Relaxed one{entry.constraint, entry.without, graph.description(), options};
    if (entry.drop(one.description, one.options)) list.push_back(std::move(one));
  }
  return list;
}

Relaxed relaxed_together(const Graph& graph, const PlanOptions& options, const std::vector<std::string>& constraints) {
  Relaxed all{{}, {}, graph.description(), options};
  for (const Entry& entry : kEntries) {
    if (std::find(constraints.begin(), constraints.end(), entry.constraint) == constraints.end()) continue;
    all.constraint += (all.constraint.empty() ? "" : ", ") + std::string(entry.constraint);
    entry.drop(all.description, all.options);
  }
  return all;
}

}  // namespace stowage::report
