#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/heap/span_heap.hpp"

/// The idle bytes of several heaps that lie in the same pages, in the order of addresses, for as long as nothing is
/// allocated or freed; new bytes are added to it. What touches is one *run*, whoever has its parts.
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

  /// New idle bytes of a heap, which join whatever they touch, there as here. O(parts).
  void add(const IdlePart& part);

  [[nodiscard]] const std::vector<IdlePart>& parts() const { return parts_; }
  [[nodiscard]] const std::vector<IdleRun>& runs() const { return runs_; }
  /// The smallest run that holds `size`, the lowest of equal ones.
  [[nodiscard]] std::optional<IdleRun> tightest(Bytes size) const;
  /// How many idle bytes end there.
  [[nodiscard]] Bytes ending_at(const std::byte* address) const;
  /// The parts that overlap the bytes, cut to them.
  [[nodiscard]] std::vector<IdlePart> within(const std::byte* address, Bytes size) const;

 private:
  std::vector<IdlePart> parts_;
  std::vector<IdleRun> runs_;
};

}  // namespace stowage::runtime
