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

/// Buffers for a heap whose device has no virtual memory. No two of them touch, whatever the device does: the last
/// bytes of each are not used. Not thread-safe.
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

  /// A new run of at least that many bytes, aligned. Fails with `out_of_memory` beyond the limit too.
  Result<UnpagedRun> allocate(Bytes size);
  [[nodiscard]] std::vector<UnpagedRun> runs() const;
  /// Frees the buffer of the run that begins there; says its size.
  Bytes free(const std::byte* address);

  /// Leaves the buffers to the device for ever: work may be using them.
  void abandon();

  [[nodiscard]] Bytes reserved() const { return reserved_; }
  [[nodiscard]] Counts counts() const { return counts_; }
  void reset_counts() { counts_ = {}; }

 private:
  [[nodiscard]] UnpagedRun run_of(const Buffer& buffer) const;

  BufferType& type_;
  const Bytes alignment_;
  const std::optional<Bytes> limit_;  ///< Of all buffers together.
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Bytes reserved_;
  Counts counts_;
};

}  // namespace stowage::runtime
