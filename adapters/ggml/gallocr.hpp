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
  std::uint64_t matches = 0;  ///< Calls for which a plan was at hand.
  std::uint64_t growths = 0;  ///< Times that buffers were replaced, the first included.
};

/// ggml's graph allocator on our planner. Holds the plans of the last graphs in one set of buffers, so that switching
/// between them costs nothing. Every call either does what it says or leaves all as it was, with one exception: when a
/// device cannot hold old and new buffers at once, the old ones go first, and if that does not help, others of their
/// size come. The addresses of graphs that were allocated before are then void, as after every growth. Not thread-safe,
/// as ggml's.
///
/// Not built on `stowage::GraphAllocator`: what is matched here is a ggml graph as it is, without making a `Graph` of
/// it; buffers that do not fit a device twice must go before larger ones come; and with several chunks ggml's callers
/// count on the exact sizes.
class Gallocr {
 public:
  explicit Gallocr(std::span<const ggml_backend_buffer_type_t> types, const Settings& settings = ggml::settings());
  Gallocr(const Gallocr&) = delete;
  Gallocr& operator=(const Gallocr&) = delete;

  /// Plans the graph, unless a plan at hand fits, and sees to it that the buffers hold it. Does not touch the graph.
  Status reserve(const ggml_cgraph& graph, BufferIds ids);
  /// By buffer id: what the graph needs. Allocates nothing.
  Result<std::vector<std::size_t>> sizes(const ggml_cgraph& graph, BufferIds ids);
  /// Binds the graph's tensors. With one buffer type it plans and grows by itself where no plan fits. With several it
  /// fails then, and when the plan that fits was reserved with other buffer ids than the last one: only the caller
  /// knows them.
  Status allocate(const ggml_cgraph& graph);

  /// Of buffer `id`; 0 before anything was reserved, and for an id whose type an earlier id has.
  [[nodiscard]] std::size_t buffer_size(int id) const;
  [[nodiscard]] const BufferTypes& types() const { return types_; }
  [[nodiscard]] const GallocrCounters& counters() const { return counters_; }

 private:
  /// A graph whose plan is kept.
  struct Held {
    RecordedGraph record;
    ChunkSizes needs;
    std::vector<int> ids;      ///< By leaf, then by node; empty for one buffer type, where they make no difference.
    std::uint64_t assignment;  ///< Equal for equal ids.
    bool returning =
        false;  ///< It was reserved or came more than once, and had its buffers: its chunks are worth keeping.
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
  HeldList held_;                 ///< The last one used first.
  std::uint64_t assignment_ = 0;  ///< Of the last reserve.
  std::uint64_t assignments_ = 0;
  GallocrCounters counters_;
};

}  // namespace stowage::ggml
