#include <algorithm>
#include <set>
#include <string_view>

#include "layout/stages.hpp"

/// What ops and options require of the memory of each class.
namespace stowage::layout {
namespace {

using Names = std::set<std::string_view>;

Names names_of(const AnalysisOptions& options) {
  return {options.no_reuse_names.begin(), options.no_reuse_names.end()};
}

void add_whole_run(const Graph& graph, const AnalysisOptions& options, const Sharing& sharing, const NoReuse& no_reuse,
                   ByClass<Demands>& demands) {
  const Names names = names_of(options);
  for (std::size_t c = 0; c < demands.size(); ++c) {
    const ClassId id(c);
    if (options.no_reuse || sharing.flags[id].has(TensorFlag::no_reuse)) demands[id].add(Demand::whole_run);
  }
  for (std::size_t t = 0; t < graph.tensors().size() && !names.empty(); ++t) {
    if (names.contains(graph.tensors()[t].name)) demands[sharing.class_of(TensorId(t))].add(Demand::whole_run);
  }
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (!op.no_reuse && (no_reuse.ops.empty() || no_reuse.ops[k] == 0)) continue;
    for (const TensorId output : op.outputs) demands[sharing.class_of(output)].add(Demand::whole_run);
  }
}

void add_fixed(const Graph& graph, const Sharing& sharing, ByClass<Demands>& demands) {
  for (const Op& op : graph.ops()) {
    if (!op.fixed_address) continue;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) demands[sharing.class_of(*input)].add(Demand::fixed);
    }
    for (const TensorId output : op.outputs) demands[sharing.class_of(output)].add(Demand::fixed);
  }
}

void add_filled(const Graph& graph, const Sharing& sharing, ByClass<Demands>& demands) {
  for (const Op& op : graph.ops()) {
    for (const std::uint32_t output : op.zero_fill.outputs)
      demands[sharing.class_of(op.outputs[output])].add(Demand::filled);
  }
}

void add_grouped(const Graph& graph, const Sharing& sharing, ByClass<Demands>& demands) {
  for (const Group& group : graph.relations().groups) {
    for (const GroupMember& member : group.members) demands[sharing.class_of(member.tensor)].add(Demand::grouped);
    if (group.whole) demands[sharing.class_of(*group.whole)].add(Demand::grouped);
  }
}

void add_carried(const Graph& graph, const Sharing& sharing, ByClass<Demands>& demands) {
  for (const Scope& scope : graph.scopes()) {
    for (const Carried& pair : scope.carried) {
      demands[sharing.class_of(pair.in)].add(Demand::carried);
      demands[sharing.class_of(pair.out)].add(Demand::carried);
    }
  }
}

}  // namespace

NoReuse find_no_reuse(const Graph& graph, const AnalysisOptions& options) {
  NoReuse result{.everything = options.no_reuse};
  const Names names = names_of(options);
  if (names.empty()) return result;
  for (const Op& op : graph.ops()) result.ops.push_back(op.no_reuse || names.contains(op.name) ? 1 : 0);
  return result;
}

ByClass<Demands> find_demands(const Graph& graph, const AnalysisOptions& options, const Sharing& sharing,
                              const NoReuse& no_reuse) {
  ByClass<Demands> demands(sharing.class_count());
  add_whole_run(graph, options, sharing, no_reuse, demands);
  add_fixed(graph, sharing, demands);
  add_filled(graph, sharing, demands);
  add_grouped(graph, sharing, demands);
  add_carried(graph, sharing, demands);
  return demands;
}

}  // namespace stowage::layout
