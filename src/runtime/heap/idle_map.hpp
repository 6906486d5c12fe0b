#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/heap/span_heap.hpp"

/// The idle bytes of several heaps that share pages, in address order. Valid as long as nothing is allocated or freed;
/// new bytes can be added. Adjacent idle bytes form one *run*, even if its parts belong to different heaps.
namespace stowage::runtime {

struct IdlePart {
  std::byte* address = nullptr;
  Bytes size;
  SpanHeap* owner = nullptr;

  [[nodiscard]] std::byte* end() const { return address + size.value(); }
};

struct IdleRun {
  std::byte* address = nullptr;
  Bytes size;

  [[nodiscard]] std::byte* end() const { return address + size.value(); }
};

class IdleMap {
 public:
  /// O(spans log spans).
  explicit IdleMap(std::span<SpanHeap* const> heaps);

  /// Adds new idle bytes of a heap. They merge with adjacent runs, and with adjacent parts of the same heap. O(parts).
  void add(const IdlePart& part);

  [[nodiscard]] const std::vector<IdlePart>& parts() const { return parts_; }
  [[nodiscard]] const std::vector<IdleRun>& runs() const { return runs_; }
  /// The smallest run of at least `size` bytes; of equal ones, the lowest.
  [[nodiscard]] std::optional<IdleRun> tightest(Bytes size) const;
  /// The number of contiguous idle bytes that end at this address.
  [[nodiscard]] Bytes ending_at(const std::byte* address) const;
  /// The parts that overlap this range, clipped to it.
  [[nodiscard]] std::vector<IdlePart> within(const std::byte* address, Bytes size) const;

 private:
  std::vector<IdlePart> parts_;
  std::vector<IdleRun> runs_;
};

}  // namespace stowage::runtime
