#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "runtime/heap/span.hpp"

/// Idle spans by size, for (nearly) best fit in constant time.
///
/// Two-level segregated bins (TLSF, Masmano et al. 2004): each size below 64 units has its own bin, and every doubling
/// above is divided into 32 bins, so that sizes in a bin differ by at most 3%. A bitmap finds the next non-empty bin.
/// TLSF takes any span of that bin. We look at the first few for the smallest one, and start in the request's own bin,
/// where spans may be too small: low fragmentation matters most here, and the lists are short (a heap has tens to
/// hundreds of idle spans). Exact best fit by a balanced tree was rejected: it saved no bytes on the recorded traces.
namespace stowage::runtime {

class SpanBins {
 public:
  /// Bytes are counted in units of `unit`, a power of two.
  explicit SpanBins(Bytes unit) : shift_(std::countr_zero(static_cast<std::uint64_t>(unit.value()))) {}

  void insert(Span* span) {
    const std::size_t bin = bin_of(span->size);
    span->bin = static_cast<std::uint16_t>(bin);
    span->previous = nullptr;
    span->next = heads_[bin];
    if (span->next != nullptr) span->next->previous = span;
    heads_[bin] = span;
    words_[bin / 64] |= std::uint64_t{1} << (bin % 64);
    summary_ |= std::uint32_t{1} << (bin / 64);
  }

  void remove(Span* span) {
    if (span->next != nullptr) span->next->previous = span->previous;
    if (span->previous != nullptr) {
      span->previous->next = span->next;
      return;
    }
    heads_[span->bin] = span->next;
    if (span->next == nullptr) clear(span->bin);
  }

  /// The smallest span of at least `size` bytes among those examined; of equal ones, the lowest. Null if there is none.
  /// The span stays in its bin.
  [[nodiscard]] Span* find(Bytes size) const {
    const std::size_t own = bin_of(size);
    if (Span* const span = smallest(heads_[own], size, kLook)) return span;
    const std::size_t bin = next_filled(own + 1);
    if (bin < kBins) return smallest(heads_[bin], size, kLook);
    return smallest(heads_[own], size, kAll);
  }

  /// The size of the largest span; 0 when there is none. O(n) in the spans of its bin.
  [[nodiscard]] Bytes largest() const;

 private:
  static constexpr std::size_t kExact = 64;  ///< Bins for one size each; log2(64) = 6 bits.
  static constexpr std::size_t kCuts = 32;   ///< Bins per doubling.
  static constexpr std::size_t kBins = 1024;
  static constexpr int kAll = std::numeric_limits<int>::max();
  static constexpr int kLook = 24;  ///< Spans examined per bin.

  [[nodiscard]] std::size_t bin_of(Bytes size) const {
    const auto units = static_cast<std::uint64_t>(size.value()) >> shift_;
    if (units < kExact) return static_cast<std::size_t>(units);
    const auto exponent = static_cast<std::size_t>(std::bit_width(units)) - 7;  // 0 for 64 to 127 units
    const std::size_t cut = static_cast<std::size_t>(units >> (exponent + 1)) & (kCuts - 1);
    const std::size_t bin = kExact + exponent * kCuts + cut;
    return bin < kBins ? bin : kBins - 1;
  }

  [[nodiscard]] std::size_t next_filled(std::size_t from) const {
    if (from >= kBins) return kBins;
    const std::size_t word = from / 64;
    if (const std::uint64_t rest = words_[word] >> (from % 64); rest != 0) {
      return from + static_cast<std::size_t>(std::countr_zero(rest));
    }
    const std::uint32_t above = word + 1 < 32 ? summary_ >> (word + 1) : 0;
    if (above == 0) return kBins;
    const std::size_t found = word + 1 + static_cast<std::size_t>(std::countr_zero(above));
    return found * 64 + static_cast<std::size_t>(std::countr_zero(words_[found]));
  }

  void clear(std::size_t bin) {
    words_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
    if (words_[bin / 64] == 0) summary_ &= ~(std::uint32_t{1} << (bin / 64));
  }

  /// The smallest span that fits among the first `look` of a list.
  [[nodiscard]] static Span* smallest(Span* span, Bytes size, int look) {
    Span* best = nullptr;
    for (; span != nullptr && look > 0; span = span->next, --look) {
      if (span->size < size) continue;
      if (best == nullptr || span->size < best->size || (span->size == best->size && span->address < best->address))
        best = span;
    }
    return best;
  }

  const int shift_;
  std::uint32_t summary_ = 0;  ///< Bit w: words_[w] is not 0.
  std::array<std::uint64_t, kBins / 64> words_{};
  std::array<Span*, kBins> heads_{};
};

}  // namespace stowage::runtime
