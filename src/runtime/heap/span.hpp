#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::runtime {

/// What a run of bytes is good for.
enum class SpanState : std::uint8_t {
  idle,   ///< May be given out.
  live,   ///< An allocation, or the first piece of a stitched one.
  piece,  ///< A further piece of a stitched allocation.
  away,   ///< A sentinel: what lies there is not the heap's.
};

/// A run of addresses of one heap. The spans of a range follow each other without gaps; two idle neighbours never do.
struct Span {
  std::byte* address = nullptr;
  Bytes size;
  SpanState state = SpanState::idle;
  bool used_elsewhere = false;  ///< By other streams than its heap's.
  bool pending = false;         ///< Freed, but other streams may still use it.
  std::uint16_t bin = 0;        ///< Of an idle one.
  std::uint32_t stitch = 0;     ///< Of a stitched allocation's first piece: which stitch shows it, from 1.
  Span* before = nullptr;       ///< The neighbour that ends where this begins.
  Span* after = nullptr;        ///< The neighbour that begins where this ends.
  Span* previous = nullptr;     ///< In its bin.
  Span* next = nullptr;         ///< In its bin; of a stitched allocation, the next piece.
  Bytes requested;              ///< Of a live one.
  std::byte* shown = nullptr;   ///< The address that the user has: its own, or the one in the stitch.

  [[nodiscard]] std::byte* end() const { return address + size.value(); }
};

/// Spans in blocks that never move. Not thread-safe.
class SpanPool {
 public:
  [[nodiscard]] Span* make() {
    if (free_ == nullptr) refill();
    Span* const span = free_;
    free_ = span->next;
    *span = Span{};
    return span;
  }
  void drop(Span* span) {
    span->next = free_;
    free_ = span;
  }

 private:
  static constexpr std::size_t kBlock = 256;

  void refill() {
    blocks_.push_back(std::make_unique<Span[]>(kBlock));
    for (std::size_t i = 0; i < kBlock; ++i) drop(&blocks_.back()[i]);
  }

  std::vector<std::unique_ptr<Span[]>> blocks_;
  Span* free_ = nullptr;
};

}  // namespace stowage::runtime
