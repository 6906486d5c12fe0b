#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "verify/claims.hpp"
#include "verify/links.hpp"

namespace stowage::verification {

/// Which writers a value accepts for its bytes: itself and, because packed ops copy nothing, the parts that it is made
/// of or the whole that it is a part of. Without packed groups every value accepts only itself, at no cost.
class Provenance {
 public:
  explicit Provenance(const Links& links);

  /// A value that another one is made of, or that is made of it.
  struct Part {
    HolderId other;
    ByteRange bytes;
    OpId op;
  };

  /// Whether any values share bytes.
  [[nodiscard]] bool any() const { return !sources_.empty(); }
  /// Whether the value shares bytes with no part and no whole.
  [[nodiscard]] bool stands_alone(HolderId value) const {
    return !sources_.contains(value) && !derived_.contains(value);
  }
  /// Cuts the range where parts begin and end, and calls `f(ByteRange)` for each piece.
  template <class F>
  void split(std::size_t cell, ByteRange range, F&& f) const {
    const auto found = cuts_.find(cell);
    if (found != cuts_.end()) {
      const std::vector<Bytes>& cuts = found->second;
      for (auto cut = std::upper_bound(cuts.begin(), cuts.end(), range.lower); cut != cuts.end() && *cut < range.upper;
           ++cut) {
        f(ByteRange{range.lower, *cut});
        range.lower = *cut;
      }
    }
    f(range);
  }
  /// Whether `value` is made of what `source` wrote to these bytes. Precondition: no part begins or ends within them.
  [[nodiscard]] bool accepts(HolderId value, HolderId source, ByteRange bytes) const;
  /// The values that are made of what `source` wrote to some of these bytes, including `source`.
  [[nodiscard]] std::vector<HolderId> dependents(HolderId source, ByteRange bytes) const;
  /// The other values that have these bytes in common with `value`, through parts and wholes at any distance.
  /// Precondition: no part begins or ends within them.
  [[nodiscard]] std::vector<HolderId> relatives(HolderId value, ByteRange bytes) const;

  /// Calls `f(const Part&)` for each direct source of the value.
  template <class F>
  void for_each_source(HolderId value, F&& f) const {
    const auto found = sources_.find(value);
    if (found == sources_.end()) return;
    for (const Part& part : found->second.all()) f(part);
  }

 private:
  /// The parts of one value, or the wholes that it is a part of: an interval tree over their bytes.
  class PartList {
   public:
    void add(const Part& part) { parts_.push_back(part); }
    /// Call this after the last `add` and before `overlapping`.
    void sort();
    /// In the order in which they were added.
    [[nodiscard]] const std::vector<Part>& all() const { return parts_; }
    /// Appends the positions of the parts that overlap the bytes. O(log n + answers).
    void overlapping(ByteRange bytes, std::vector<std::uint32_t>& positions) const {
      collect(0, by_lower_.size(), bytes, positions);
    }

   private:
    void collect(std::size_t begin, std::size_t end, ByteRange bytes, std::vector<std::uint32_t>& positions) const;
    Bytes find_reach(std::size_t begin, std::size_t end);

    std::vector<Part> parts_;
    /// Positions of the parts, sorted by their lower ends. The middle of a range of this list is the root of its tree.
    std::vector<std::uint32_t> by_lower_;
    std::vector<Bytes> reach_;  ///< The highest end in that tree.
  };
  using Parts = std::unordered_map<HolderId, PartList>;

  [[nodiscard]] static std::vector<HolderId> reach(std::span<const Parts* const> lists, HolderId from, ByteRange bytes);

  Parts sources_;                                             ///< By value: what it is made of.
  Parts derived_;                                             ///< By value: what is made of it.
  std::unordered_map<std::size_t, std::vector<Bytes>> cuts_;  ///< By cell: where parts begin and end, ascending.
};

}  // namespace stowage::verification
