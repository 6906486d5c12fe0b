#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "buffer_types.hpp"
#include "chunk_buffers.hpp"
#include "recorded_graph.hpp"
#include "settings.hpp"

namespace stowage::ggml {

/// What a graph allocator has done, for tests and benchmarks.
struct GallocrCounters {
  std::uint64_t plans = 0;    ///< Graphs that were planned.
  std::uint64_t matches = 0;  ///< Calls that found an existing plan.
  std::uint64_t growths = 0;  ///< Times that buffers were replaced, including the first.
};

/// ggml's graph allocator, based on our planner. It holds the plans of the most recent graphs in one set of buffers, so
/// that switching between them costs nothing. Every call either succeeds or changes nothing, with one exception: if a
/// device cannot hold old and new buffers at once, the old ones are freed first, and if that does not help, buffers of
/// the old sizes are allocated again. Addresses of graphs allocated before are then invalid, as after every growth. Not
/// thread-safe, like ggml's.
///
/// Not based on `stowage::GraphAllocator`: here a ggml graph is matched directly, without converting it to a `Graph`;
/// buffers that do not fit on a device twice must be freed before larger ones are allocated; and with several chunks,
/// ggml's callers rely on the exact sizes.
class Gallocr {
 public:
  explicit Gallocr(std::span<const ggml_backend_buffer_type_t> types, const Settings& settings = ggml::settings());
  Gallocr(const Gallocr&) = delete;
  Gallocr& operator=(const Gallocr&) = delete;

  /// Plans the graph, unless an existing plan fits, and makes the buffers large enough. Does not modify the graph.
  Status reserve(const ggml_cgraph& graph, BufferIds ids);
  /// How many bytes the graph needs, per buffer id. Allocates nothing.
  Result<std::vector<std::size_t>> sizes(const ggml_cgraph& graph, BufferIds ids);
  /// Binds the graph's tensors. With one buffer type, it plans and grows by itself if no plan fits. With several it
  /// fails in that case, and also if the fitting plan was reserved with other buffer ids than the last one: only the
  /// caller knows the ids.
  Status allocate(const ggml_cgraph& graph);

  /// The size of buffer `id`; 0 before the first reserve, and for an id whose type an earlier id has.
  [[nodiscard]] std::size_t buffer_size(int id) const;
  [[nodiscard]] const BufferTypes& types() const { return types_; }
  [[nodiscard]] const GallocrCounters& counters() const { return counters_; }

 private:
  /// A graph whose plan is kept.
  struct Held {
    RecordedGraph record;
    ChunkSizes needs;
    std::vector<int> ids;      ///< Per leaf, then per node; empty for one buffer type, where ids make no difference.
    std::uint64_t assignment;  ///< Equal if and only if the ids are equal.
    /// It was reserved or used more than once, and had its buffers: its chunks are worth keeping.
    bool returning = false;
  };
  using HeldList = std::vector<std::unique_ptr<Held>>;

  Held* find(const ggml_cgraph& graph, const std::vector<int>& ids);
  Result<Held*> plan(const ggml_cgraph& graph, BufferIds ids);
  Result<Held*> find_or_plan(const ggml_cgraph& graph, BufferIds ids);
  Status make_room(Held& held);
  [[nodiscard]] ChunkSizes sizes_with(const Held& held) const;
  bool bind(Held& held, const ggml_cgraph& graph);
  Held* bind_any(const ggml_cgraph& graph);
  [[nodiscard]] std::vector<int> ids_of(const ggml_cgraph& graph, BufferIds ids) const;
  [[nodiscard]] std::uint64_t assignment_of(const std::vector<int>& ids);
  void to_front(std::size_t position);

  BufferTypes types_;
  ChunkBuffers buffers_;
  Settings settings_;
  HeldList held_;                 ///< Most recently used first.
  std::uint64_t assignment_ = 0;  ///< That of the last reserve.
  std::uint64_t assignments_ = 0;
  GallocrCounters counters_;
};

}  // namespace stowage::ggml
