#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// A `Problem` in the form that the general search uses: items of nonzero size; for every two items that meet, the
/// forbidden differences of their offsets; cliques of pieces that are pairwise disjoint if they share a region; and
/// which items and regions are interchangeable. Immutable.
class GeneralModel {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct ModelItem {
    std::uint32_t index;  ///< In the problem.
    std::int64_t size;
    std::int64_t alignment;
    std::optional<std::int64_t> pinned;
    /// The last equal item before this one. Without loss of generality it lies lower, or in an earlier region.
    std::uint32_t twin = kNone;
    std::uint32_t twin_pair = kNone;  ///< The pair of these two.
  };

  /// Open at both ends: differences d with above < d < below are forbidden. Within a pair the ranges are ascending and
  /// disjoint, with an allowed difference between any two.
  struct Forbidden {
    std::int64_t above;
    std::int64_t below;
  };

  /// Two items that meet; the difference is offset of `b` − offset of `a`.
  struct Pair {
    std::uint32_t a;
    std::uint32_t b;
    std::uint32_t first;  ///< Of its forbidden ranges.
    std::uint32_t last;
  };

  /// A piece in a clique. Its bytes [offset + lower, offset + lower + length) are disjoint from those of the others in
  /// the region.
  struct Task {
    std::uint32_t item;
    std::int64_t lower;
    std::int64_t bytes;
    /// The bytes, rounded up if the alignment of the whole clique leaves the rest unusable.
    std::int64_t length;
  };
  using Clique = std::vector<Task>;

  /// Nothing when the problem has more than 2 million pairs of pieces that meet, when numbers come near the limits of
  /// 64 bits, or when `stop` returns true.
  static std::optional<GeneralModel> make(const Problem& problem, const std::function<bool()>& stop);

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(items_.size()); }
  [[nodiscard]] const ModelItem& item(std::uint32_t i) const { return items_[i]; }
  [[nodiscard]] std::span<const Pair> pairs() const { return pairs_; }
  [[nodiscard]] std::span<const Forbidden> forbidden(const Pair& pair) const {
    return std::span(forbidden_).subspan(pair.first, pair.last - pair.first);
  }
  [[nodiscard]] std::span<const Clique> cliques() const { return cliques_; }
  [[nodiscard]] std::span<const std::uint32_t> pairs_of(std::uint32_t i) const { return pairs_of_[i]; }
  [[nodiscard]] std::span<const std::uint32_t> cliques_of(std::uint32_t i) const { return cliques_of_[i]; }
  /// By decreasing area: the order in which regions are chosen, and in which twins precede each other.
  [[nodiscard]] std::span<const std::uint32_t> by_area() const { return by_area_; }
  /// The last region before `region` that is interchangeable with it, or kNone.
  [[nodiscard]] std::uint32_t twin_of_region(std::uint32_t region) const { return region_twin_[region]; }
  /// Some optimal answer has nothing above this: the highest pin with all items, padded, on top of it.
  [[nodiscard]] std::int64_t ceiling() const { return ceiling_; }

 private:
  explicit GeneralModel(const Problem& problem) : problem_(&problem) {}

  bool add_items();
  bool add_pairs();
  void add_pair(std::uint32_t a, std::uint32_t b, std::vector<Forbidden>& ranges);
  void allow_joins(std::uint32_t a, std::uint32_t b, std::uint32_t first);
  void drop_joined(Clique& clique) const;
  void add_section_cliques();
  void add_stream_cliques();
  void add_clique(Clique clique);
  void keep_heaviest_cliques();
  void order_items();
  void find_twins();
  void find_region_twins();

  const Problem* problem_;
  std::vector<ModelItem> items_;
  std::vector<Pair> pairs_;
  std::vector<Forbidden> forbidden_;
  std::vector<Clique> cliques_;
  std::vector<std::vector<std::uint32_t>> pairs_of_;
  std::vector<std::vector<std::uint32_t>> cliques_of_;
  std::vector<std::uint32_t> by_area_;
  std::vector<std::uint32_t> region_twin_;
  std::int64_t ceiling_ = 0;
};

}  // namespace stowage::pack
