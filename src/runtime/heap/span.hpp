#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::runtime {

enum class SpanState : std::uint8_t {
  idle,   ///< May be given out.
  live,   ///< An allocation, or the first piece of a stitched one.
  piece,  ///< A further piece of a stitched allocation.
  away,   ///< A sentinel: the bytes beyond it do not belong to the heap.
};

/// A range of addresses of one heap. The spans of a run follow each other without gaps; no two idle spans are adjacent.
struct Span {
  std::byte* address = nullptr;
  Bytes size;
  SpanState state = SpanState::idle;
  bool used_elsewhere = false;  ///< By streams other than its heap's.
  bool pending = false;         ///< Freed, but other streams may still use it.
  std::uint16_t bin = 0;        ///< If idle.
  std::uint32_t stitch = 0;     ///< If this is the first piece of a stitched allocation: its stitch, counted from 1.
  Span* before = nullptr;       ///< The neighbour that ends where this begins.
  Span* after = nullptr;        ///< The neighbour that begins where this ends.
  Span* previous = nullptr;     ///< In its bin.
  Span* next = nullptr;         ///< In its bin; in a stitched allocation, the next piece.
  Bytes requested;              ///< If live.
  std::byte* shown = nullptr;   ///< The address that the user holds: the span's own, or the one in the stitch.

  [[nodiscard]] std::byte* end() const { return address + size.value(); }
};

/// Allocates spans in blocks, so that they never move. Not thread-safe.
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
