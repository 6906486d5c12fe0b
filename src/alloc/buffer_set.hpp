#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alloc/chunk_list.hpp"

namespace stowage::alloc {

/// By type and region: the chunk that holds it.
using RegionBuffers = std::vector<std::vector<Buffer*>>;

/// The chunks of several types, which grow together or not at all.
class BufferSet {
 public:
  explicit BufferSet(std::vector<ChunkList> types) : types_(std::move(types)) {}

  /// Makes room for a plan, one need a type. On failure everything is as before.
  Result<RegionBuffers> provide(std::span<const Need> needs);

  /// Keeps only what regions that end at `ends`, by type and region, need in `chunks`.
  Status trim(const RegionBuffers& chunks, const std::vector<std::vector<Bytes>>& ends, Bytes& returned);

  [[nodiscard]] const ChunkList& operator[](std::size_t type) const { return types_[type]; }
  [[nodiscard]] std::size_t size() const { return types_.size(); }
  /// Another number when what `provide` said before may no longer hold.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] std::uint64_t growths() const { return growths_; }
  [[nodiscard]] std::uint64_t buffers_made() const;
  /// `Buffer::reset` of all.
  void reset() const;

 private:
  std::vector<ChunkList> types_;
  std::uint64_t version_ = 1;
  std::uint64_t growths_ = 0;
};

}  // namespace stowage::alloc
