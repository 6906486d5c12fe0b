#include "lower/uses.hpp"

#include <algorithm>

#include "graph/interface/relations.hpp"

namespace stowage {
namespace {

bool always(std::uint32_t /*batch*/) { return true; }

}  // namespace

BufferUses::BufferUses(const Graph& graph, const Plan& plan, const Duties& duties)
    : graph_(graph), plan_(plan), duties_(duties) {
  if (graph.batches().empty()) return;
  std::vector<std::uint32_t> of_class(graph.tensors().size());
  for (std::uint32_t i = 0; i < plan.bindings.size(); ++i)
    of_class[graph.relations().place(plan.bindings[i].tensor).representative.index()] = i + 1;
  of_arena_.resize(plan.arenas.size());
  for (std::size_t a = 0; a < plan.arenas.size(); ++a) {
    const Arena& arena = plan.arenas[a];
    if (arena.kind != ArenaKind::user || !arena.tensor || arena.tensor->index() >= of_class.size()) continue;
    of_arena_[a] = of_class[graph.relations().place(*arena.tensor).representative.index()];
  }
  for (std::size_t t = 0; t < of_class.size(); ++t)
    of_tensor_.push_back(of_class[graph.relations().place(TensorId(t)).representative.index()]);
  for (const Placement& place : plan.placements)
    if (place.arena.index() < of_arena_.size()) of_tensor_[place.tensor.index()] = of_arena_[place.arena.index()];
  used_.assign(plan.bindings.size(), std::vector<bool>(graph.batches().size() + 1));
  for (std::size_t k = 0; k < graph.ops().size(); ++k) add_op(OpId(k));
  for (const WorkspacePlacement& place : plan.workspaces)
    if (place.arena.index() < of_arena_.size()) add(of_arena_[place.arena.index()], place.op, always);
  for (std::uint32_t i = 0; i < plan.copies.size(); ++i) {
    const Copy& copy = plan.copies[i];
    const bool before = copy.when.kind == CopyMoment::Kind::before_op;
    const OpId op = before ? copy.when.op : graph.scope(graph.scope_of(copy.tensor)).op;
    if (copy.arena.index() < of_arena_.size())
      add(of_arena_[copy.arena.index()], op, [&](std::uint32_t batch) { return duties.is_made(i, batch); });
  }
  for (std::vector<bool>& batches : used_)
    if (std::find(batches.begin(), batches.end(), true) == batches.end()) batches.flip();
}

void BufferUses::add_op(OpId id) {
  const Op& op = graph_.op(id);
  if (op.no_task) return;
  for (const std::optional<TensorId>& input : op.inputs)
    if (input)
      add(of_tensor_[input->index()], id, [&](std::uint32_t batch) { return !duties_.is_absent(*input, batch); });
  for (const TensorId output : op.outputs) add(of_tensor_[output.index()], id, always);
}

template <class Where>
void BufferUses::add(std::uint32_t binding, OpId op, Where&& where) {
  if (binding == 0) return;
  std::vector<bool>& batches = used_[binding - 1];
  for (std::uint32_t batch = 0; batch < batches.size(); ++batch) {
    if (duties_.runs(op, batch) && where(batch)) batches[batch] = true;
  }
}

}  // namespace stowage
