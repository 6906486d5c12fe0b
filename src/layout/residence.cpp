#include <algorithm>

#include "layout/stages.hpp"

/// Where the memory of each class comes from, and which tensors may be bound to the caller's own buffer.
namespace stowage::layout {
namespace {

Residence residence_of(TensorFlags flags, bool accessed) {
  if (flags.has(TensorFlag::external)) return Residence::external;
  if (flags.any_of({TensorFlag::constant, TensorFlag::variable})) return Residence::persistent;
  if (accessed || flags.any_of({TensorFlag::input, TensorFlag::output})) return Residence::shared;
  return Residence::nowhere;
}

/// Decides for each zero-copy tensor whether it can lie in the caller's buffer.
class ZeroCopy {
 public:
  explicit ZeroCopy(const ResidenceInput& input) : input_(input), facts_(input.classes.list.size()) {
    const Sharing& sharing = input.classes.sharing;
    const Graph& graph = input.graph;
    for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
      Facts& facts = facts_[sharing.class_of(TensorId(t))];
      facts.in_body = facts.in_body || graph.scope_of(TensorId(t)).index() != 0;
      facts.outputs += graph.tensors()[t].flags.has(TensorFlag::output) ? 1 : 0;
      facts.asking += graph.tensors()[t].flags.has(TensorFlag::zero_copy) ? 1 : 0;
    }
    for (const Scope& scope : graph.scopes()) {
      for (const BodyInput& pair : scope.inputs) facts_[sharing.class_of(pair.outer)].in_body = true;
      for (const BodyOutput& pair : scope.outputs) facts_[sharing.class_of(pair.outer)].in_body = true;
    }
  }

  void run(Residences& result) const {
    for (std::size_t t = 0; t < input_.graph.tensors().size(); ++t) {
      if (input_.graph.tensors()[t].flags.has(TensorFlag::zero_copy)) settle(TensorId(t), result);
    }
  }

 private:
  struct Facts {
    bool in_body = false;
    int outputs = 0;
    int asking = 0;
  };

  void settle(TensorId id, Residences& result) const {
    const Tensor& tensor = input_.graph.tensor(id);
    if (const char* const reason = obstacle(id)) {
      result.notes.push_back({id, std::string("not zero-copy: ") + reason});
      return;
    }
    if (tensor.flags.has(TensorFlag::input) && !tensor.flags.has(TensorFlag::output) &&
        tensor.size <= input_.options.fuse_inputs_up_to) {
      result.fused.push_back(id);
      result.notes.push_back({id, "not zero-copy: small enough to be copied in together with the other small inputs"});
      return;
    }
    result.list[input_.classes.sharing.class_of(id)] = Residence::bound;
    result.bound.push_back(id);
  }

  [[nodiscard]] const char* obstacle(TensorId id) const {
    const Tensor& tensor = input_.graph.tensor(id);
    const ClassPlace place = input_.classes.sharing.place(id);
    const Demands demands = input_.demands[place.id];
    const Facts& facts = facts_[place.id];
    if (facts.in_body) return "its memory is used in a body";
    if (!tensor.flags.any_of({TensorFlag::input, TensorFlag::output}))
      return "it is neither an input nor an output of the graph";
    if (tensor.flags.has(TensorFlag::shape_data) && !input_.graph.batches().empty())
      return "it is the shape data of a graph with batches";
    if (input_.graph.memory(tensor.memory).kind == "p2p") return "its memory is of kind p2p";
    if (input_.classes.sharing.flags[place.id].any_of(kOwnAddress))
      return "it shares memory with a constant, variable or external tensor";
    if (facts.asking > 1 || facts.outputs > 1) return "it shares memory with another input or output";
    if (place.offset != Bytes(0) || tensor.size != input_.classes.list[place.id].size)
      return "it is only a part of the memory that it shares with other tensors";
    if (demands.has(Demand::grouped)) return "it is a member of a contiguous group";
    if (demands.has(Demand::fixed)) return "an op that needs the same address in every run accesses it";
    if (demands.has(Demand::filled)) return "it must be filled";
    return nullptr;
  }

  const ResidenceInput& input_;
  ByClass<Facts> facts_;
};

/// The outputs of a split without copies of a constant or variable are persistent too, unless other ops write them.
void split_own_addresses(const ResidenceInput& input, ByClass<Residence>& residences) {
  const std::vector<Group>& groups = input.graph.relations().groups;
  if (groups.empty()) return;
  const Sharing& sharing = input.classes.sharing;
  const ByClass<int> writers = count_writers(input.graph, sharing);
  for (const Group& group : groups) {
    if (group.side != GroupSide::outputs || group.kind != Contiguity::packed) continue;
    const Residence whole = residences[sharing.class_of(*group.whole)];
    if (whole != Residence::persistent) continue;
    for (const GroupMember& member : group.members) {
      const ClassId id = sharing.class_of(member.tensor);
      const int own = input.graph.op(group.op).no_task ? 0 : 1;
      const bool shared = residences[id] == Residence::shared && input.classes.list[id].size > Bytes(0);
      if (writers[id] == own && shared) residences[id] = whole;
    }
  }
}

bool has_flag(const Graph& graph, TensorFlag flag) {
  return std::any_of(graph.tensors().begin(), graph.tensors().end(),
                     [&](const Tensor& tensor) { return tensor.flags.has(flag); });
}

}  // namespace

Residences find_residences(const ResidenceInput& input) {
  const Sharing& sharing = input.classes.sharing;
  Residences result{.list = ByClass<Residence>(sharing.class_count()), .bound = {}, .fused = {}, .notes = {}};
  for (std::size_t c = 0; c < sharing.class_count(); ++c) {
    const ClassId id(c);
    result.list[id] = residence_of(sharing.flags[id], !input.accesses[id].empty());
  }
  for (const Op& op : input.graph.ops()) {
    if (!op.prefetch) continue;
    for (const TensorId output : op.outputs) result.list[sharing.class_of(output)] = Residence::ring;
  }
  split_own_addresses(input, result.list);
  if (has_flag(input.graph, TensorFlag::zero_copy)) ZeroCopy(input).run(result);
  return result;
}

ByClass<Sides> find_sides(const ResidenceInput& input, const ByClass<Residence>& residences,
                          const std::vector<char>& central_fills) {
  const Sharing& sharing = input.classes.sharing;
  ByClass<Sides> sides(sharing.class_count());
  for (std::size_t k = 0; k < central_fills.size(); ++k) {
    if (central_fills[k] == 0) continue;
    const Op& op = input.graph.ops()[k];
    for (const std::uint32_t output : op.zero_fill.outputs) sides[sharing.class_of(op.outputs[output])].before = true;
  }
  for (std::size_t c = 0; c < sharing.class_count(); ++c) {
    const ClassId id(c);
    const TensorFlags flags = sharing.flags[id];
    const bool always = input.demands[id].has(Demand::whole_run) || residences[id] == Residence::persistent;
    const bool kept_input = flags.has(TensorFlag::input) && input.options.keep_inputs;
    sides[id].before = sides[id].before || always || flags.has(TensorFlag::input);
    sides[id].after = always || kept_input || flags.has(TensorFlag::output);
  }
  return sides;
}

}  // namespace stowage::layout
