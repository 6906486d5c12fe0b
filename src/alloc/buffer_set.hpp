#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alloc/chunk_list.hpp"

namespace stowage::alloc {

/// By list and region: the chunk that the region lies in.
using RegionBuffers = std::vector<std::vector<Buffer*>>;

/// Several lists of chunks, which grow together or not at all.
class BufferSet {
 public:
  explicit BufferSet(std::vector<ChunkList> types) : lists_(std::move(types)) {}

  /// Makes room for a plan, given one need per list; one without regions asks for nothing. On failure nothing changes.
  Result<RegionBuffers> provide(std::span<const Need> needs);

  /// Frees what is not needed by regions in `chunks` that end at `ends` (by list and region). Adds the freed bytes to
  /// `returned`.
  Status trim(const RegionBuffers& chunks, const std::vector<std::vector<Bytes>>& ends, Bytes& returned);

  [[nodiscard]] const ChunkList& operator[](std::size_t list) const { return lists_[list]; }
  [[nodiscard]] std::size_t size() const { return lists_.size(); }
  /// Changes whenever the result of an earlier `provide` may no longer be valid.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] std::uint64_t growths() const { return growths_; }
  [[nodiscard]] std::uint64_t buffers_made() const;
  /// Calls `Buffer::reset` on all buffers of the first lists.
  void reset(std::size_t lists) const;
  void pin(std::size_t list) { lists_[list].pin(); }

 private:
  std::vector<ChunkList> lists_;
  std::uint64_t version_ = 1;
  std::uint64_t growths_ = 0;
};

}  // namespace stowage::alloc
