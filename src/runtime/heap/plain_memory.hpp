#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stowage/memory.hpp"

namespace stowage::runtime {

/// Buffers for a heap whose device has no virtual memory. No two of them touch, whatever the device does: the last bytes of each
/// are not used. Not thread-safe.
class PlainMemory {
 public:
  struct Counts {
    std::uint64_t creates = 0;
    std::uint64_t releases = 0;
  };
  struct Run {
    std::byte* address = nullptr;
    Bytes size;
  };

  PlainMemory(BufferType& type, Bytes alignment, std::optional<Bytes> limit)
      : type_(type), alignment_(alignment), limit_(limit) {}
  ~PlainMemory();
  PlainMemory(const PlainMemory&) = delete;
  PlainMemory& operator=(const PlainMemory&) = delete;

  /// A new run of at least that many bytes, aligned. Fails with `out_of_memory` beyond the limit too.
  Result<Run> allocate(Bytes size);
  [[nodiscard]] std::vector<Run> runs() const;
  /// Frees the buffer of the run that begins there; says its size.
  Bytes free(const std::byte* address);

  /// Leaves the buffers to the device for ever: work may be using them.
  void abandon();

  [[nodiscard]] Bytes reserved() const { return reserved_; }
  [[nodiscard]] Counts counts() const { return counts_; }
  void reset_counts() { counts_ = {}; }

 private:
  [[nodiscard]] Run run_of(const Buffer& buffer) const;

  BufferType& type_;
  const Bytes alignment_;
  const std::optional<Bytes> limit_;  ///< Of all buffers together.
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Bytes reserved_;
  Counts counts_;
};

}  // namespace stowage::runtime
