#include "support/judges/shadow/layout.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "support/judges/shadow/groups.hpp"
#include "support/judges/shadow/locator.hpp"

namespace stowage::testing {
namespace {

/// Tensors that the run touches: those of ops that do something, what the caller writes or reads, and what holds a
/// value for ever.
std::vector<bool> touched_tensors(const Graph& graph, const Families& families) {
  std::vector<bool> touched;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const TensorFlags of_family = families.families[families.seats[i].family].flags;
    touched.push_back(graph.tensors()[i].flags.any_of({TensorFlag::input, TensorFlag::output}) ||
                      of_family.any_of({TensorFlag::variable, TensorFlag::external}));
  }
  for (const Op& op : graph.ops()) {
    if (op.no_task) continue;
    for (const TensorId output : op.outputs) touched[output.index()] = true;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) touched[input->index()] = true;
    }
  }
  return touched;
}

template <class Visit>
void visit_sites(Layout& layout, const Visit& visit) {
  for (Site& site : layout.tensors) visit(site);
  for (OpSites& op : layout.ops) {
    for (std::vector<Site>* sites : {&op.inputs, &op.outputs, &op.workspaces})
      std::for_each(sites->begin(), sites->end(), visit);
  }
  for (PlannedClear& clear : layout.first_clears) visit(clear.to);
  for (std::vector<PlannedClear>& clears : layout.clears) {
    for (PlannedClear& clear : clears) visit(clear.to);
  }
  for (std::vector<std::vector<PlannedCopy>>* all : {&layout.copies, &layout.end_copies}) {
    for (std::vector<PlannedCopy>& copies : *all) {
      for (PlannedCopy& copy : copies) {
        visit(copy.from);
        visit(copy.to);
      }
    }
  }
}

class LayoutBuilder {
 public:
  LayoutBuilder(const Graph& graph, const Plan& plan, const Families& families, Bytes granularity,
                std::vector<std::string>& findings)
      : graph_(graph),
        plan_(plan),
        families_(families),
        granularity_(granularity),
        findings_(findings),
        locator_(graph, plan, families, granularity, findings) {}

  [[nodiscard]] Layout build() {
    layout_ = plain_layout(graph_, tensors(), workspaces());
    for (const Clear& clear : plan_.clears) add_clear(clear);
    for (const Copy& copy : plan_.copies) add_copy(copy);
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      align(OpId(k), layout_.ops[k].inputs, input_members(graph_, graph_.ops()[k]), graph_.ops()[k].contiguous_inputs);
      align(OpId(k), layout_.ops[k].outputs, output_members(graph_, graph_.ops()[k]),
            graph_.ops()[k].contiguous_outputs);
    }
    for (const auto& [a, b] : graph_.apart()) check_apart(a, b);
    for (const Edge& edge : plan_.edges) {
      if (std::max(edge.from, edge.to).index() >= graph_.scope(ScopeId(0)).op_count)
        locator_.complain("an edge names an op that does not exist");
    }
    if (findings_.empty()) make_memory();
    return std::move(layout_);
  }

 private:
  [[nodiscard]] std::vector<Site> tensors() const {
    const std::vector<bool> touched = touched_tensors(graph_, families_);
    std::vector<Site> result(graph_.tensors().size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (touched[i]) result[i] = locator_.tensor(TensorId(i));
    }
    return result;
  }

  [[nodiscard]] std::vector<std::vector<Site>> workspaces() const {
    std::vector<std::vector<Site>> result(graph_.ops().size());
    for (std::size_t op = 0; op < result.size(); ++op) {
      if (graph_.ops()[op].no_task) continue;
      for (std::uint32_t index = 0; index < graph_.ops()[op].workspaces.size(); ++index)
        result[op].push_back(locator_.workspace(OpId(op), index));
    }
    return result;
  }

  // ------------------------------------------------------------------------------------------------ clears and copies
  void add_clear(const Clear& clear) {
    const bool first = clear.before == OpId(0);
    if (!first && clear.before.index() >= graph_.ops().size()) {
      locator_.complain("a clear comes before an op that does not exist");
      return;
    }
    const Site to = locator_.range(clear.arena, clear.region, {clear.offset, clear.offset + clear.size}, "a clear");
    (first ? layout_.first_clears : layout_.clears[clear.before.index()]).push_back({to, clear.value});
  }

  void add_copy(const Copy& copy) {
    const TensorId tensor = copy.tensor;
    if (tensor.index() >= graph_.tensors().size()) {
      locator_.complain("a copy names tensor " + std::to_string(copy.tensor.index()) + ", which does not exist");
      return;
    }
    const std::string name = "the copy of " + describe(graph_.tensor(tensor), tensor);
    if (copy.size != graph_.tensor(tensor).size) locator_.complain(name + " has another size");
    Site to = locator_.range(copy.arena, copy.region, {copy.offset, copy.offset + copy.size}, name);
    to.extent.count = families_.seats[tensor.index()].count;
    const ScopeId scope = graph_.scope_of(tensor);
    const bool at_end = copy.when.kind != CopyMoment::Kind::before_op;
    if (at_end && scope != ScopeId(0)) {
      layout_.end_copies[scope.index()].push_back({tensor, tensor, locator_.tensor(tensor), to});
    } else if (at_end || !graph_.scope(scope).contains(copy.when.op)) {
      locator_.complain(name + " comes before an op that does not exist");
    } else {
      add_copy(tensor, copy.when.op, to, name);
    }
  }

  void add_copy(TensorId tensor, OpId id, const Site& to, const std::string& name) {
    const Op& op = graph_.op(id);
    OpSites& sites = layout_.ops[id.index()];
    bool used = false;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] != tensor) continue;
      if (!used) layout_.copies[id.index()].push_back({tensor, tensor, layout_.tensors[tensor.index()], to});
      // An op with bodies has read it already; the copy is for its body.
      if (op.control == Control::none) sites.inputs[i] = to;
      used = true;
    }
    if (!used && is_split(graph_, op)) used = add_part(tensor, id, to, name);
    if (!used) locator_.complain(name + " is for an op that does not have it");
  }

  /// An output of a split that cannot lie in its input.
  bool add_part(TensorId tensor, OpId id, const Site& to, const std::string& name) {
    const Op& op = graph_.op(id);
    const auto whole =
        std::find_if(op.inputs.begin(), op.inputs.end(), [](const auto& input) { return input.has_value(); });
    const Site& site = layout_.ops[id.index()].inputs[static_cast<std::size_t>(whole - op.inputs.begin())];
    for (const GroupMember& member : output_members(graph_, op)) {
      if (member.tensor != tensor) continue;
      Site from = locator_.beside(site, site.offset + member.offset.value(), graph_.tensor(tensor).size, name);
      from.extent.count = to.extent.count;
      layout_.copies[id.index()].push_back({tensor, **whole, from, to});
      return true;
    }
    return false;
  }

  /// Addresses that the graph keeps apart, even where no value would be lost.
  void check_apart(TensorId a, TensorId b) const {
    const Site& one = layout_.tensors[a.index()];
    const Site& other = layout_.tensors[b.index()];
    const auto end = [&](TensorId id) { return layout_.tensors[id.index()].offset + graph_.tensor(id).size.value(); };
    const bool sizeless = one.extent.count == 0 || other.extent.count == 0;  // or in no memory
    if (sizeless || one.extent.space != other.extent.space || end(a) <= other.offset || end(b) <= one.offset) return;
    locator_.complain(describe(graph_.tensor(a), a) + " shares bytes with " + describe(graph_.tensor(b), b) +
                      ", from which it is to be kept apart");
  }

  // ----------------------------------------------------------------------------------------------------------- groups
  /// An op with a padded group finds all members from the first one that takes any bytes.
  void align(OpId op, std::vector<Site>& sites, const std::vector<GroupMember>& members, Contiguity kind) {
    const auto exact = [&](const GroupMember& member) { return is_aligned(member.offset, granularity_); };
    if (!std::all_of(members.begin(), members.end(), exact))
      locator_.complain("a group of " + describe(graph_.op(op), op) + " is aligned too finely to shadow");
    if (kind != Contiguity::padded) return;
    const auto first = std::find_if(members.begin(), members.end(),
                                    [&](const GroupMember& s) { return sites[s.position].extent.count != 0; });
    if (first == members.end()) return;
    const Site anchor = sites[first->position];
    for (const GroupMember& member : members) {
      if (member.position == first->position) continue;
      const std::string name =
          describe(graph_.tensor(member.tensor), member.tensor) + " in the group of " + describe(graph_.op(op), op);
      Site& site = sites[member.position];
      const std::size_t cells = site.extent.count;
      site = locator_.beside(anchor, anchor.offset + (member.offset - first->offset).value(),
                             graph_.tensor(member.tensor).size, name);
      site.extent.count = cells;
    }
  }

  void make_memory() {
    std::vector<Extent> extents;
    visit_sites(layout_, [&](Site& site) { extents.push_back(site.extent); });
    layout_.memory = SparseMemory(std::move(extents));
    visit_sites(layout_, [&](Site& site) { site.bytes = layout_.memory.at(site.extent); });
    layout_.spaces = locator_.spaces();
  }

  const Graph& graph_;
  const Plan& plan_;
  const Families& families_;
  Bytes granularity_;
  std::vector<std::string>& findings_;
  Locator locator_;
  Layout layout_;
};

}  // namespace

Layout plain_layout(const Graph& graph, std::vector<Site> tensors, std::vector<std::vector<Site>> workspaces) {
  Layout layout;
  layout.tensors = std::move(tensors);
  layout.ops.resize(graph.ops().size());
  layout.clears.resize(graph.ops().size());
  layout.copies.resize(graph.ops().size());
  layout.end_copies.resize(graph.scopes().size());
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    for (const std::optional<TensorId>& input : op.inputs)
      layout.ops[k].inputs.push_back(input ? layout.tensors[input->index()] : Site{});
    for (const TensorId output : op.outputs) layout.ops[k].outputs.push_back(layout.tensors[output.index()]);
    layout.ops[k].workspaces = std::move(workspaces[k]);
  }
  return layout;
}

Layout planned_layout(const Graph& graph, const Plan& plan, const Families& families, Bytes granularity,
                      std::vector<std::string>& findings) {
  return LayoutBuilder(graph, plan, families, granularity, findings).build();
}

}  // namespace stowage::testing
