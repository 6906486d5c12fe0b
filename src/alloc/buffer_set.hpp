#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alloc/chunk_list.hpp"

namespace stowage::alloc {

/// By type and region: the chunk that the region lies in.
using RegionBuffers = std::vector<std::vector<Buffer*>>;

/// The chunks of several types, which grow together or not at all.
class BufferSet {
 public:
  explicit BufferSet(std::vector<ChunkList> types) : types_(std::move(types)) {}

  /// Makes room for a plan, given one need per type. On failure nothing changes.
  Result<RegionBuffers> provide(std::span<const Need> needs);

  /// Frees what is not needed by regions in `chunks` that end at `ends` (by type and region). Adds the freed bytes to
  /// `returned`.
  Status trim(const RegionBuffers& chunks, const std::vector<std::vector<Bytes>>& ends, Bytes& returned);

  [[nodiscard]] const ChunkList& operator[](std::size_t type) const { return types_[type]; }
  [[nodiscard]] std::size_t size() const { return types_.size(); }
  /// Changes whenever the result of an earlier `provide` may no longer be valid.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] std::uint64_t growths() const { return growths_; }
  [[nodiscard]] std::uint64_t buffers_made() const;
  /// Calls `Buffer::reset` on all buffers.
  void reset() const;

 private:
  std::vector<ChunkList> types_;
  std::uint64_t version_ = 1;
  std::uint64_t growths_ = 0;
};

}  // namespace stowage::alloc
