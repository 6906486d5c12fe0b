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
    words_[bin / kWordBits] |= std::uint64_t{1} << (bin % kWordBits);
    summary_ |= std::uint32_t{1} << (bin / kWordBits);
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
    if (bin < kBins) return smallest(heads_[bin], size, kLook);  // every span there is large enough
    return smallest(heads_[own], size, kAll);
  }

  /// The size of the largest span; 0 when there is none. O(n) in the spans of its bin.
  [[nodiscard]] Bytes largest() const;

 private:
  static constexpr std::size_t kExact = 64;     ///< Bins for one size each.
  static constexpr std::size_t kCuts = 32;      ///< Bins per doubling.
  static constexpr std::size_t kBins = 1024;    ///< Enough for 30 doublings; the last bin also has all larger sizes.
  static constexpr std::size_t kWordBits = 64;  ///< Bins per word of the bitmap.
  static constexpr std::size_t kWords = kBins / kWordBits;
  static constexpr int kLook = 24;  ///< Spans examined per bin.
  static constexpr int kAll = std::numeric_limits<int>::max();
  static_assert(kExact == 2 * kCuts, "bin_of drops one bit of the first doubling");
  static_assert(kWords < 32, "summary_ has a bit for each word, and next_filled shifts it by up to kWords");

  [[nodiscard]] std::size_t bin_of(Bytes size) const {
    const auto units = static_cast<std::uint64_t>(size.value()) >> shift_;
    if (units < kExact) return static_cast<std::size_t>(units);
    const auto exponent = static_cast<std::size_t>(std::bit_width(units) - std::bit_width(kExact));  // 0 for 64 to 127
    const std::size_t cut = static_cast<std::size_t>(units >> (exponent + 1)) & (kCuts - 1);
    const std::size_t bin = kExact + exponent * kCuts + cut;
    return bin < kBins ? bin : kBins - 1;
  }

  /// The first bin from `from` on that is not empty; kBins if there is none.
  [[nodiscard]] std::size_t next_filled(std::size_t from) const {
    if (from >= kBins) return kBins;
    const std::size_t word = from / kWordBits;
    if (const std::uint64_t rest = words_[word] >> (from % kWordBits); rest != 0) {
      return from + static_cast<std::size_t>(std::countr_zero(rest));
    }
    const std::uint32_t above = summary_ >> (word + 1);
    if (above == 0) return kBins;
    const std::size_t found = word + 1 + static_cast<std::size_t>(std::countr_zero(above));
    return found * kWordBits + static_cast<std::size_t>(std::countr_zero(words_[found]));
  }

  /// Notes in the bitmap that the bin is empty.
  void clear(std::size_t bin) {
    words_[bin / kWordBits] &= ~(std::uint64_t{1} << (bin % kWordBits));
    if (words_[bin / kWordBits] == 0) summary_ &= ~(std::uint32_t{1} << (bin / kWordBits));
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

  const int shift_;                            ///< log2(unit).
  std::uint32_t summary_ = 0;                  ///< Bit w: words_[w] is not 0.
  std::array<std::uint64_t, kWords> words_{};  ///< The bitmap: a bit per bin that is not empty.
  std::array<Span*, kBins> heads_{};           ///< By bin: a list, linked by `Span::next`.
};

}  // namespace stowage::runtime
