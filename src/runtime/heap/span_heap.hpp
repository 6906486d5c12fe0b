#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>

#include "runtime/heap/address_table.hpp"
#include "runtime/heap/span.hpp"
#include "runtime/heap/span_bins.hpp"

/// The bookkeeping of a heap: which bytes are allocated. Makes no call to any device.
///
/// The heap's bytes are *runs* of addresses. In a run, spans follow each other without gaps between two sentinels, so
/// that splitting and merging look only at neighbours. Runs grow, join and split only when pages are added or removed.
/// An allocation is the lower end of the smallest idle span that fits, or it is stitched: scattered pieces that another
/// range of addresses shows as one.
///
/// Cost: allocation and free are O(1) except for the search in a bin; adding and removing pages is O(spans).
namespace stowage::runtime {

class SpanHeap {
 public:
  explicit SpanHeap(Bytes unit) : bins_(unit) {}
  ~SpanHeap() = default;
  SpanHeap(const SpanHeap&) = delete;
  SpanHeap& operator=(const SpanHeap&) = delete;

  /// Takes `size` bytes, a multiple of the unit; null if no idle span is large enough.
  Span* take(Bytes size, Bytes requested) {
    Span* const span = bins_.find(size);
    if (span == nullptr) return nullptr;
    bins_.remove(span);
    if (span->size > size) split(span, size);
    claim(span, requested);
    return span;
  }

  struct Piece {
    std::byte* address = nullptr;
    Bytes size;
  };
  /// Takes these idle bytes as one allocation that the user sees at `shown`.
  Span* take_pieces(std::span<const Piece> pieces, std::byte* shown, std::uint32_t stitch, Bytes requested);

  /// The allocation that the user knows by this address; null if there is none.
  /// `remove` also removes it from the table.
  [[nodiscard]] Span* find(const std::byte* shown) const { return table_.find(shown); }
  Span* remove(const std::byte* shown) { return table_.take(shown); }

  /// Frees an allocation that was removed from the table.
  void give_back(Span* span) {
    requested_ -= span->requested;
    for (Span* piece = span; piece != nullptr;) {
      Span* const next = piece->stitch != 0 || piece->state == SpanState::piece ? piece->next : nullptr;
      live_ -= piece->size;
      piece->stitch = 0;
      free_span(piece);
      piece = next;
    }
  }

  /// Adds idle bytes; they merge with adjacent idle spans.
  void add(std::byte* address, Bytes size);
  /// Removes bytes from the heap. Precondition: all of them are idle.
  void cut(std::byte* address, Bytes size);

  /// Visits every span in address order.
  void for_each(const std::function<void(const Span&)>& visit) const;
  /// The span that contains this byte; null if it is not in the heap. O(spans).
  [[nodiscard]] const Span* at(const std::byte* address) const;

  [[nodiscard]] Bytes live() const { return live_; }  ///< Bytes of allocations, rounded up.
  [[nodiscard]] Bytes requested() const { return requested_; }
  [[nodiscard]] std::size_t allocations() const { return table_.size(); }
  [[nodiscard]] Bytes largest_idle() const { return bins_.largest(); }

 private:
  /// Two sentinels of size 0, whose neighbours are the first and the last span.
  struct SpanRun {
    Span* head = nullptr;
    Span* tail = nullptr;
  };
  using Runs = std::map<std::byte*, SpanRun>;  ///< By first address.

  void claim(Span* span, Bytes requested) {
    span->state = SpanState::live;
    span->requested = requested;
    span->shown = span->address;
    live_ += span->size;
    requested_ += requested;
    table_.insert(span);
  }

  /// Keeps the first `size` bytes; the rest becomes idle.
  void split(Span* span, Bytes size) {
    Span* const rest = spans_.make();
    rest->address = span->address + size.value();
    rest->size = span->size - size;
    span->size = size;
    link(span, rest, span->after);
    bins_.insert(rest);
  }

  void free_span(Span* span) {
    span->state = SpanState::idle;
    if (span->before->state == SpanState::idle) {
      span = span->before;
      bins_.remove(span);
      join(span, span->after);
    }
    if (span->after->state == SpanState::idle) {
      bins_.remove(span->after);
      join(span, span->after);
    }
    bins_.insert(span);
  }

  void join(Span* span, Span* next) {
    span->size += next->size;
    span->after = next->after;
    next->after->before = span;
    spans_.drop(next);
  }

  static void link(Span* before, Span* span, Span* after) {
    span->before = before;
    span->after = after;
    before->after = span;
    after->before = span;
  }

  Span* sentinel(std::byte* address);
  SpanRun& run_ending_at(std::byte* address);
  Span* isolate(Span* idle, std::byte* address, Bytes size);
  [[nodiscard]] Runs::const_iterator run_with(const std::byte* address) const;
  [[nodiscard]] Span* span_with(const std::byte* address) const;

  SpanPool spans_;
  SpanBins bins_;
  AddressTable table_;
  Runs runs_;
  Bytes live_;
  Bytes requested_;
};

}  // namespace stowage::runtime
