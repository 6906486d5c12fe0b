#include "chunk_buffers.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace stowage::ggml {
namespace {

/// The distance from `address` to the next multiple of `alignment`, a power of two.
std::uint64_t distance_to_aligned(const void* address, std::size_t alignment) {
  return (0 - reinterpret_cast<std::uintptr_t>(address)) & (alignment - 1);
}

Error out_of_memory(ggml_backend_buffer_type_t type, std::uint64_t size) {
  return {ErrorCode::out_of_memory,
          fmt::format("failed to allocate {} buffer of size {}", ggml_backend_buft_name(type), size),
          {}};
}

/// The free memory that the type's device reports; nothing if there is no device, or it does not report.
std::optional<std::uint64_t> free_memory(ggml_backend_buffer_type_t type) {
  const ggml_backend_dev_t device = ggml_backend_buft_get_device(type);
  std::size_t free = 0;
  std::size_t total = 0;
  if (device) ggml_backend_dev_memory(device, &free, &total);
  return total > 0 ? std::optional<std::uint64_t>(free) : std::nullopt;
}

}  // namespace

bool ChunkBuffers::fit(std::size_t memory, const std::vector<std::uint64_t>& needs) const {
  const Chunks& chunks = chunks_[memory];
  if (chunks.empty() || chunks.size() < needs.size()) return false;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (chunks[i].room < needs[i]) return false;
  }
  return true;
}

bool ChunkBuffers::fit(const ChunkSizes& needs) const {
  for (std::size_t memory = 0; memory < needs.size(); ++memory) {
    if (!fit(memory, needs[memory])) return false;
  }
  return true;
}

Status ChunkBuffers::grow(const ChunkSizes& sizes) {
  std::vector<std::pair<std::size_t, Chunks>> fresh;
  std::vector<std::size_t> refused;
  for (std::size_t memory = 0; memory < sizes.size(); ++memory) {
    if (fit(memory, sizes[memory])) continue;
    Result<Chunks> chunks = allocate(memory, sizes[memory]);
    if (chunks) {
      fresh.emplace_back(memory, std::move(*chunks));
    } else if (chunks_[memory].empty()) {
      return chunks.error();
    } else {
      refused.push_back(memory);
    }
  }
  for (const std::size_t memory : refused) STOWAGE_TRY_STATUS(replace_without_both(memory, sizes[memory]));
  for (auto& [memory, chunks] : fresh) chunks_[memory] = std::move(chunks);
  update();
  return Done{};
}

/// For buffers that do not fit at the same time. The contents are lost either way, so the old ones are freed first, and
/// allocated again if that does not help. If the device reports that it cannot help, they stay.
Status ChunkBuffers::replace_without_both(std::size_t memory, const std::vector<std::uint64_t>& sizes) {
  std::vector<std::uint64_t> old;
  for (const Chunk& each : chunks_[memory]) old.push_back(each.room);
  const std::uint64_t wanted = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  const std::uint64_t given_back = std::accumulate(old.begin(), old.end(), std::uint64_t{0});
  const std::optional<std::uint64_t> room = free_memory(types_.type(memory));
  if (room && *room + given_back < wanted) return out_of_memory(types_.type(memory), wanted);
  chunks_[memory].clear();
  Result<Chunks> chunks = allocate(memory, sizes);
  if (chunks) {
    chunks_[memory] = std::move(*chunks);
    return Done{};
  }
  if (Result<Chunks> again = allocate(memory, old)) chunks_[memory] = std::move(*again);
  update();
  return std::move(chunks).error();
}

Result<ChunkBuffers::Chunks> ChunkBuffers::allocate(std::size_t memory, const std::vector<std::uint64_t>& sizes) const {
  Chunks chunks;
  for (std::size_t i = 0; i < std::max<std::size_t>(sizes.size(), 1); ++i) {
    STOWAGE_TRY(Chunk chunk, allocate_chunk(types_.type(memory), sizes.empty() ? 0 : sizes[i]));
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

/// A buffer's base is nearly always aligned. If not, a buffer that is larger by the alignment has enough room after its
/// first aligned address.
Result<ChunkBuffers::Chunk> ChunkBuffers::allocate_chunk(ggml_backend_buffer_type_t type, std::uint64_t size) const {
  const std::size_t alignment = ggml_backend_buft_get_alignment(type);
  for (const std::uint64_t extra : {std::uint64_t{0}, std::uint64_t{alignment}}) {
    BufferOwner buffer(ggml_backend_buft_alloc_buffer(type, size + extra));
    if (!buffer) break;
    auto* const base = static_cast<std::byte*>(ggml_backend_buffer_get_base(buffer.get()));
    const std::uint64_t shift = distance_to_aligned(base, alignment);
    if (size + shift > size + extra) continue;
    ggml_backend_buffer_set_usage(buffer.get(), GGML_BACKEND_BUFFER_USAGE_COMPUTE);
    return Chunk{std::move(buffer), base + shift, size};
  }
  return out_of_memory(type, size);
}

void ChunkBuffers::update() {
  ++generation_;
  silent_ = true;
  for (const Chunks& chunks : chunks_) {
    for (const Chunk& each : chunks) silent_ = silent_ && !each.buffer->iface.init_tensor && !each.buffer->iface.reset;
  }
}

std::size_t ChunkBuffers::size(std::size_t memory) const {
  std::size_t sum = 0;
  for (const Chunk& each : chunks_[memory]) sum += ggml_backend_buffer_get_size(each.buffer.get());
  return sum;
}

void ChunkBuffers::reset() {
  for (const Chunks& chunks : chunks_) {
    for (const Chunk& each : chunks) ggml_backend_buffer_reset(each.buffer.get());
  }
}

}  // namespace stowage::ggml
