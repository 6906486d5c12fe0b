#include "report/constraints.hpp"

#include <algorithm>
#include <optional>

#include "rewrite/interface/rewrites.hpp"

/// The constraints that can be dropped, as a table: a name, what is planned instead, and a function that drops the
/// constraint from a graph and options and returns whether there was anything to drop.
namespace stowage::report {
namespace {

using rewrite::Constraint;
using rewrite::Editor;
using rewrite::set;
using Drop = bool (*)(Editor&, PlanOptions&);

/// Constraints of the graph only.
template <auto constraint>
bool drop(Editor& graph, PlanOptions&) {
  return relax(graph, constraint);
}

/// Constraints of the options only.
bool drop_keep_inputs(Editor&, PlanOptions& options) { return set(options.keep_inputs, false); }
bool drop_batch_start(Editor&, PlanOptions& options) { return set(options.batch_start, BatchStart::free); }
bool drop_fusing(Editor&, PlanOptions& options) { return set(options.fuse_inputs_up_to, Bytes(0)); }

bool drop_central_fill(Editor& graph, PlanOptions& options) {
  const bool fills =
      std::any_of(graph.ops().begin(), graph.ops().end(), [](const Op& op) { return !op.zero_fill.empty(); });
  return fills && set(options.zero_fill, FillPolicy::separate);
}

bool drop_no_reuse(Editor& graph, PlanOptions& options) {
  const bool all = set(options.no_reuse, false);
  const bool names = set(options.no_reuse_names, {});
  return relax(graph, Constraint::no_reuse) || all || names;
}

bool drop_fixed_addresses(Editor& graph, PlanOptions& options) {
  if (options.base != AddressBase::refreshable) return false;  // with a fixed base every address is fixed
  return relax(graph, &Op::fixed_address);
}

bool has_pairs(Editor& graph) {
  return std::any_of(graph.ops().begin(), graph.ops().end(), [](const Op& op) { return !op.in_place.empty(); });
}

bool drop_in_place(Editor& graph, PlanOptions& options) { return has_pairs(graph) && set(options.in_place, false); }
bool allow_in_place(Editor& graph, PlanOptions& options) { return has_pairs(graph) && set(options.in_place, true); }

bool drop_limits(Editor& graph, PlanOptions& options) {
  const bool limit = set(options.region_limit, {});
  return relax(graph, Constraint::largest_buffers) || limit;
}

bool drop_zero_copy(Editor& graph, PlanOptions& options) {
  options.fuse_inputs_up_to = Bytes(0);
  return relax(graph, TensorFlags{TensorFlag::zero_copy, TensorFlag::reusable});
}

struct DroppableConstraint {
  const char* constraint;
  const char* without;
  Drop drop;
};

constexpr DroppableConstraint kConstraints[] = {
    {"contiguous groups, padded", "members lie anywhere", drop<Constraint::padded_groups>},
    {"contiguous groups, packed", "those ops copy", drop<Constraint::packed_groups>},
    {"zero fill at the start", "each fill right before its op", drop_central_fill},
    {"inputs kept to the end", "inputs live to their last read", drop_keep_inputs},
    {"outputs kept to the end", "outputs live to their last use", drop<Constraint::kept_outputs>},
    {"no reuse", "everything may be reused", drop_no_reuse},
    {"fixed addresses", "one arena, which may move", drop_fixed_addresses},
    {"alignment", "alignment 1", drop<Constraint::alignments>},
    {"several streams", "all ops on one stream", drop<Constraint::streams>},
    {"in place where allowed", "no output overwrites an input", drop_in_place},
    {"nothing in place", "outputs overwrite inputs where allowed", allow_in_place},
    {"largest buffer", "buffers of any size", drop_limits},
    {"batches", "all batches run", drop<Constraint::batches>},
    {"batches start alike", "groups of batches start anywhere", drop_batch_start},
    {"zero copy", "callers' tensors lie in our memory", drop_zero_copy},
    {"fused inputs", "small inputs lie in callers' buffers", drop_fusing},
    {"prefetch rings", "prefetched tensors are like any other", drop<Constraint::rings>},
    {"session workspaces", "workspaces live during their op", drop<Constraint::session_workspaces>},
    {"tensors kept apart", "they share bytes like any others", drop<Constraint::apart>},
};

}  // namespace

std::vector<Relaxed> relaxed(const Graph& graph, const PlanOptions& options) {
  std::vector<Relaxed> list;
  std::optional<Relaxed> next;  // a copy of the graph is expensive, and is made only for what can be dropped
  for (const DroppableConstraint& entry : kConstraints) {
    if (!next) next = Relaxed{{}, {}, Editor(graph), options};
    next->options = options;
    if (!entry.drop(next->graph, next->options)) continue;
    next->constraint = entry.constraint;
    next->without = entry.without;
    list.push_back(std::move(*next));
    next.reset();
  }
  return list;
}

Relaxed relaxed_together(const Graph& graph, const PlanOptions& options, const std::vector<std::string>& constraints) {
  Relaxed all{{}, {}, Editor(graph), options};
  for (const DroppableConstraint& entry : kConstraints) {
    if (std::find(constraints.begin(), constraints.end(), entry.constraint) == constraints.end()) continue;
    all.constraint += (all.constraint.empty() ? "" : ", ") + std::string(entry.constraint);
    entry.drop(all.graph, all.options);
  }
  return all;
}

}  // namespace stowage::report
