#include "report/page_plan.hpp"

#include "report/labels.hpp"
#include "report/scene.hpp"

namespace stowage::report {
namespace {

/// Adds the tensors of a storage, by number.
void add_members(const Scene& scene, StorageId id, PageHolder& holder) {
  for (const ClassId each : scene.layout().storage(id).classes) {
    for (const TensorId tensor : scene.tensors(each)) holder.tensors.push_back(tensor.index());
  }
}

/// Names the holder after a tensor.
void name_after(const Scene& scene, TensorId tensor, StringTable& strings, PageHolder& holder) {
  const Tensor& source = scene.graph().tensor(tensor);
  std::string kind = kind_of(scene, tensor);
  if (kind.empty()) kind = kind_of_given(source);
  holder.tensor = static_cast<std::int64_t>(tensor.index());
  holder.kind = strings.number(kind);
  holder.scope = strings.number(layer_of(scene.graph(), tensor, scene.producer(tensor)));
}

PageHolder page_holder(const Scene& scene, const PlacedArena& arena, const PlacedItem& item, StringTable& strings) {
  PageHolder holder{.arena = arena.number.index(),
                    .life = item.life,
                    .size = item.size,
                    .low = item.offset,
                    .pieces = item.blocks,
                    .tensors = {}};
  if (const auto* const workspace = std::get_if<WorkspaceId>(&item.occupant)) {
    const Op& op = scene.graph().op(workspace->op);
    holder.op = step_of(scene.liveness().timeline, workspace->op);
    holder.kind = strings.number(op.kind);
    holder.scope = strings.number(layer_of(op));
  } else if (const auto* const host = std::get_if<HostTensor>(&item.occupant)) {
    name_after(scene, host->tensor, strings, holder);
    for (const TensorId tensor : scene.tensors(scene.layout().class_of(host->tensor)))
      holder.tensors.push_back(tensor.index());
  } else {
    if (const std::optional<TensorId> tensor = naming_tensor(scene, item)) name_after(scene, *tensor, strings, holder);
    add_members(scene, std::get<StorageId>(item.occupant), holder);
  }
  return holder;
}

}  // namespace

PlanData planned_data(const PlanScene& of) {
  const Scene& scene = of.scene();
  const Graph& graph = scene.graph();
  PlanData data;
  data.summary = summarize(of.planned());
  add_graph(data, graph, scene.analysis());
  for (const Arena& arena : scene.plan().arenas)
    data.arenas.push_back(page_arena(arena, graph.memory(arena.memory).name));
  std::vector<PageHolder> holders;
  for (const auto* const arenas : {&scene.arenas(), &scene.user_buffers()}) {
    for (const PlacedArena& arena : *arenas) {
      PageArena& shown = data.arenas[arena.number.index()];
      // The order of occupants in a ring also depends on batches and added edges.
      shown.concurrent = arena.concurrent() || shown.kind == ArenaKind::ring;
      for (const PlacedItem& item : arena.items) holders.push_back(page_holder(scene, arena, item, data.strings));
    }
  }
  set_holders(data, holders);
  return data;
}

}  // namespace stowage::report
