#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "buffer_types.hpp"
#include "planning.hpp"
#include "stowage/base.hpp"

namespace stowage::ggml {

struct BufferFree {
  void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
};
using BufferOwner = std::unique_ptr<ggml_backend_buffer, BufferFree>;

/// The buffers of one graph allocator: the chunks of each buffer type. Growing either succeeds as a whole or leaves
/// buffers of the old sizes. The contents of a buffer that grows are lost, as in ggml.
class ChunkBuffers {
 public:
  explicit ChunkBuffers(const BufferTypes& types) : types_(types), chunks_(types.distinct()) {}

  /// Whether every chunk of `needs` fits, and every type has a buffer.
  [[nodiscard]] bool fit(const ChunkSizes& needs) const;
  /// Replaces the buffers of each type that does not fit `sizes`; those of other types stay, whatever their entry in
  /// `sizes`. If the device has no memory for old and new buffers at the same time, the old ones are freed first. Fails
  /// with `out_of_memory`, naming type and size; then buffers of the old sizes exist,
  /// unless the device refuses even those.
  Status grow(const ChunkSizes& sizes);
  /// Number of replacements so far, to detect addresses that are out of date.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

  [[nodiscard]] ggml_backend_buffer_t buffer(const ChunkPlace& place) const { return chunk(place).buffer.get(); }
  [[nodiscard]] void* address(const ChunkPlace& place) const { return chunk(place).base + place.offset; }
  /// Total size of all chunks of a type.
  [[nodiscard]] std::size_t size(std::size_t memory) const;
  [[nodiscard]] std::size_t chunk_count(std::size_t memory) const { return chunks_[memory].size(); }
  [[nodiscard]] std::uint64_t chunk_size(std::size_t memory, std::size_t chunk) const {
    return chunks_[memory][chunk].room;
  }

  /// Whether no backend has to be told about tensors,
  /// so that nothing has to be undone if a graph turns out not to match.
  [[nodiscard]] bool silent() const { return silent_; }
  /// Makes the backends forget the tensors that they were told about.
  void reset();

 private:
  struct Chunk {
    BufferOwner buffer;
    std::byte* base = nullptr;  ///< The first aligned address.
    std::uint64_t room = 0;     ///< Usable bytes from `base` on.
  };
  using Chunks = std::vector<Chunk>;

  [[nodiscard]] const Chunk& chunk(const ChunkPlace& place) const { return chunks_[place.memory][place.chunk]; }
  [[nodiscard]] bool fit(std::size_t memory, const std::vector<std::uint64_t>& needs) const;
  [[nodiscard]] Result<Chunks> allocate(std::size_t memory, const std::vector<std::uint64_t>& sizes) const;
  [[nodiscard]] Result<Chunk> allocate_chunk(ggml_backend_buffer_type_t type, std::uint64_t size) const;
  Status replace_without_both(std::size_t memory, const std::vector<std::uint64_t>& sizes);
  void update();

  const BufferTypes& types_;
  std::vector<Chunks> chunks_;  ///< By memory.
  std::uint64_t generation_ = 0;
  bool silent_ = true;
};

}  // namespace stowage::ggml
