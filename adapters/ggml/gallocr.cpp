#include "gallocr.hpp"

#include <algorithm>
#include <utility>

#include "host_memory.hpp"

namespace stowage::ggml {
namespace {

/// How many plans are kept; the least recently used one is dropped.
constexpr std::size_t kMaxHeld = 16;

}  // namespace

Gallocr::Gallocr(std::span<const ggml_backend_buffer_type_t> types, const Settings& settings)
    : types_(types), buffers_(types_), settings_(settings) {}

Status Gallocr::reserve(const ggml_cgraph& graph, BufferIds ids) {
  STOWAGE_TRY(Held* const held, find_or_plan(graph, ids));
  STOWAGE_TRY_STATUS(make_room(*held));
  held->returning = true;
  assignment_ = held->assignment;
  return Done{};
}

Result<std::vector<std::size_t>> Gallocr::sizes(const ggml_cgraph& graph, BufferIds ids) {
  STOWAGE_TRY(const Held* const held, find_or_plan(graph, ids));
  std::vector<std::size_t> result;
  for (int id = 0; types_.has(id); ++id) {
    std::size_t sum = 0;
    for (const std::uint64_t chunk : held->needs[types_.memory_of(id)]) sum += chunk;
    result.push_back(sum);
  }
  return result;
}

Status Gallocr::allocate(const ggml_cgraph& graph) {
  if (Held* const held = bind_any(graph)) {
    ++counters_.matches;
    held->returning = true;
    return Done{};
  }
  if (types_.distinct() > 1) return Error{ErrorCode::unsupported, "no plan fits this graph: reserve it first", {}};
  const std::uint64_t plans = counters_.plans;
  STOWAGE_TRY(Held* const held, find_or_plan(graph, {}));
  STOWAGE_TRY_STATUS(make_room(*held));
  held->returning |= counters_.plans == plans;
  if (!bind(*held, graph)) return Error{ErrorCode::device, "a backend refused a tensor of the graph", {}};
  return Done{};
}

std::size_t Gallocr::buffer_size(int id) const { return types_.is_first(id) ? buffers_.size(types_.memory_of(id)) : 0; }

/// Binds with a plan whose buffers exist. Usually this is one walk: the plan used last fits, and no backend has to be
/// told about tensors.
Gallocr::Held* Gallocr::bind_any(const ggml_cgraph& graph) {
  for (std::size_t i = 0; i < held_.size(); ++i) {
    Held& held = *held_[i];
    if (types_.distinct() > 1 && held.assignment != assignment_) continue;
    if (!buffers_.fit(held.needs) || !bind(held, graph)) continue;
    to_front(i);
    return &held;
  }
  return nullptr;
}

bool Gallocr::bind(Held& held, const ggml_cgraph& graph) {
  if (held.record.generation() != buffers_.generation()) held.record.resolve(buffers_);
  if (!buffers_.silent()) {
    if (!held.record.matches(graph)) return false;
    buffers_.reset();
  }
  return held.record.bind(graph);
}

Result<Gallocr::Held*> Gallocr::find_or_plan(const ggml_cgraph& graph, BufferIds ids) {
  if (Held* const held = find(graph, ids_of(graph, ids))) {
    ++counters_.matches;
    return held;
  }
  return plan(graph, ids);
}

/// A plan for exactly this graph; or one for larger sizes, if its buffers exist: a plan that never had buffers must not
/// make a small graph large.
Gallocr::Held* Gallocr::find(const ggml_cgraph& graph, const std::vector<int>& ids) {
  for (std::size_t i = 0; i < held_.size(); ++i) {
    Held& held = *held_[i];
    if (held.ids != ids || !held.record.matches(graph) || !(held.record.was_exact() || buffers_.fit(held.needs)))
      continue;
    to_front(i);
    return held_.front().get();
  }
  return nullptr;
}

Result<Gallocr::Held*> Gallocr::plan(const ggml_cgraph& graph, BufferIds ids) {
  GraphWalk walked = walk(graph, ids);
  share_host_memory(walked, types_);
  STOWAGE_TRY(WalkPlan planned, plan_walk(walked, types_, settings_));
  ++counters_.plans;
  std::vector<int> kept_ids = ids_of(graph, ids);
  const std::uint64_t assignment = assignment_of(kept_ids);
  auto held = std::make_unique<Held>(
      Held{RecordedGraph(walked, planned, types_), std::move(planned.chunks), std::move(kept_ids), assignment});
  if (held_.size() == kMaxHeld) held_.pop_back();
  held_.insert(held_.begin(), std::move(held));
  return held_.front().get();
}

Status Gallocr::make_room(Held& held) {
  if (buffers_.fit(held.needs)) return Done{};
  STOWAGE_TRY_STATUS(buffers_.grow(sizes_with(held)));
  ++counters_.growths;
  return Done{};
}

/// Types with one chunk never shrink, so all held graphs still fit. With several chunks, keeping the largest size of
/// each chunk over graphs that never return would cost more memory than ggml's allocator needs; graphs that do return
/// are kept.
ChunkSizes Gallocr::sizes_with(const Held& held) const {
  ChunkSizes sizes = held.needs;
  for (std::size_t memory = 0; memory < sizes.size(); ++memory) {
    const auto include = [&](std::size_t chunk, std::uint64_t size) {
      if (sizes[memory].size() <= chunk) sizes[memory].resize(chunk + 1);
      sizes[memory][chunk] = std::max(sizes[memory][chunk], size);
    };
    for (const std::unique_ptr<Held>& other : held_) {
      const std::vector<std::uint64_t>& needs = other->needs[memory];
      for (std::size_t chunk = 0; other->returning && chunk < needs.size(); ++chunk) include(chunk, needs[chunk]);
    }
    const std::size_t chunks = std::max(sizes[memory].size(), buffers_.chunk_count(memory));
    if (chunks == 1 && buffers_.chunk_count(memory) == 1) include(0, buffers_.chunk_size(memory, 0));
  }
  return sizes;
}

std::vector<int> Gallocr::ids_of(const ggml_cgraph& graph, BufferIds ids) const {
  std::vector<int> result;
  if (types_.distinct() == 1) return result;
  const auto memory_of = [&](const int* list, int i) {
    const int id = list ? list[i] : 0;
    return types_.has(id) ? static_cast<int>(types_.memory_of(id)) : -1;
  };
  for (int i = 0; i < graph.n_leafs; ++i) result.push_back(memory_of(ids.leafs, i));
  for (int i = 0; i < graph.n_nodes; ++i) result.push_back(memory_of(ids.nodes, i));
  return result;
}

std::uint64_t Gallocr::assignment_of(const std::vector<int>& ids) {
  for (const std::unique_ptr<Held>& held : held_) {
    if (held->ids == ids) return held->assignment;
  }
  return ++assignments_;
}

void Gallocr::to_front(std::size_t position) {
  const auto first = held_.begin();
  std::rotate(first, first + static_cast<std::ptrdiff_t>(position), first + static_cast<std::ptrdiff_t>(position) + 1);
}

}  // namespace stowage::ggml
