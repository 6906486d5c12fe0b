#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stowage/memory.hpp"

namespace stowage::runtime {

/// The usable bytes of one buffer.
struct UnpagedRun {
  std::byte* address = nullptr;
  Bytes size;
};

/// Buffers for a heap whose device has no virtual memory. No two usable ranges are ever adjacent, because the last
/// bytes of each buffer are left unused. Not thread-safe.
class UnpagedMemory {
 public:
  struct Counts {
    std::uint64_t creates = 0;
    std::uint64_t releases = 0;
  };

  UnpagedMemory(BufferType& type, Bytes alignment, std::optional<Bytes> limit)
      : type_(type), alignment_(alignment), limit_(limit) {}
  ~UnpagedMemory();
  UnpagedMemory(const UnpagedMemory&) = delete;
  UnpagedMemory& operator=(const UnpagedMemory&) = delete;

  /// A new aligned range of at least that many bytes. Fails with `out_of_memory` also beyond the limit.
  Result<UnpagedRun> allocate(Bytes size);
  [[nodiscard]] std::vector<UnpagedRun> runs() const;
  /// Frees the buffer whose usable bytes begin at this address; returns its size.
  Bytes free(const std::byte* address);

  /// Leaks the buffers deliberately, because work may still be using them.
  void abandon();

  [[nodiscard]] Bytes reserved() const { return reserved_; }
  [[nodiscard]] Counts counts() const { return counts_; }
  void reset_counts() { counts_ = {}; }

 private:
  [[nodiscard]] UnpagedRun run_of(const Buffer& buffer) const;

  BufferType& type_;
  const Bytes alignment_;
  const std::optional<Bytes> limit_;  ///< For all buffers together.
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Bytes reserved_;
  Counts counts_;
};

}  // namespace stowage::runtime
