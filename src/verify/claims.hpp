#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "verify/clears.hpp"
#include "verify/copies.hpp"
#include "verify/rules.hpp"

namespace stowage::verification {

/// Everything that can own bytes: first the values, then the results of copies for one op, then what clears fill.
using HolderId = std::uint32_t;
using ClaimId = std::uint32_t;

/// Bytes of a holder: those of a root tensor, a workspace, a copy or a clear.
struct Claim {
  HolderId holder;
  std::size_t cell;
  ByteRange bytes;  ///< Including padding.
  Subject subject;
  ArenaId arena;
  Bytes padding = {};  ///< The last bytes, which hold nothing.

  /// The bytes that hold something.
  [[nodiscard]] ByteRange content() const { return {bytes.lower, bytes.upper - padding}; }
  /// `part` and, if it reaches the end of the content, the padding behind it.
  [[nodiscard]] ByteRange with_padding(ByteRange part) const {
    return part.upper == content().upper ? ByteRange{part.lower, bytes.upper} : part;
  }
};

/// Everything that has bytes in the plan, except for what nobody needs and what lies outside all regions.
class Claims {
 public:
  Claims(const Case& input, const Copies& copies, const Clears& clears, const Cells& cells);

  /// Extends each value by its padding behind its highest byte, if it lies in one region:
  /// `padding_of(value, lowest byte, claim that ends last)`.
  template <class PaddingOf>
  void pad(PaddingOf&& padding_of) {
    for (HolderId holder = 0; holder < values_; ++holder) {
      const std::optional<ClaimId> highest = find_highest(holder);
      if (!highest) continue;
      const Bytes end = claims_[*highest].bytes.upper;
      const Bytes padding = padding_of(holder, lowest_of(holder), claims_[*highest]);
      for_each(holder, [&](ClaimId id) {
        if (claims_[id].bytes.upper != end) return;
        claims_[id].padding = padding;
        claims_[id].bytes.upper += padding;
      });
    }
  }

  [[nodiscard]] std::size_t size() const { return claims_.size(); }
  [[nodiscard]] std::size_t holders() const { return first_.size(); }
  [[nodiscard]] const Claim& operator[](ClaimId id) const { return claims_[id]; }
  [[nodiscard]] bool is_value(HolderId holder) const { return holder < values_; }
  [[nodiscard]] bool is_clear(HolderId holder) const { return holder >= values_ + copies_; }
  [[nodiscard]] HolderId of_copy(std::uint32_t index) const { return static_cast<HolderId>(values_ + index); }
  [[nodiscard]] HolderId of_clear(std::uint32_t index) const {
    return static_cast<HolderId>(values_ + copies_ + index);
  }
  [[nodiscard]] std::uint32_t clear(HolderId holder) const {
    return static_cast<std::uint32_t>(holder - values_ - copies_);
  }
  [[nodiscard]] std::uint32_t copy(HolderId holder) const { return static_cast<std::uint32_t>(holder - values_); }

  [[nodiscard]] bool has_any(HolderId holder) const { return first_[holder] != kNone; }
  [[nodiscard]] ClaimId first(HolderId holder) const { return first_[holder]; }
  /// The claim of the holder that contains these bytes.
  [[nodiscard]] std::optional<ClaimId> find(HolderId holder, std::size_t cell, ByteRange bytes) const;
  /// Calls `f(ClaimId)` for each claim of the holder.
  template <class F>
  void for_each(HolderId holder, F&& f) const {
    for (ClaimId at = first_[holder]; at != kNone; at = next_[at]) f(at);
  }

 private:
  static constexpr ClaimId kNone = 0xffffffff;

  /// The claim of the holder that ends last; nothing if it has none, or several in different regions or beyond all
  /// limits.
  [[nodiscard]] std::optional<ClaimId> find_highest(HolderId holder) const;
  [[nodiscard]] Bytes lowest_of(HolderId holder) const;
  /// Includes tensors that nobody reads, but that a copy or a loop writes.
  void add_tensors(const Case& input, const Copies& copies, const Cells& cells);
  void add_workspaces(const Case& input);
  void add(HolderId holder, const Subject& subject, const Place& place, Bytes size);

  std::size_t values_;
  std::size_t copies_;
  std::vector<Claim> claims_;
  std::vector<ClaimId> first_;  ///< By holder.
  std::vector<ClaimId> next_;   ///< By claim: the holder's next one.
};

}  // namespace stowage::verification
