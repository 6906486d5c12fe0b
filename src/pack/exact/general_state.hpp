#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pack/exact/edge_finding.hpp"
#include "pack/exact/general_model.hpp"

namespace stowage::pack {

/// What the general search knows at a node: limits of every offset, the regions left for every item, and what was
/// decided about pairs. Every change is recorded on a trail and can be undone. Not thread-safe.
///
/// Invariant, on which proofs depend: a value is removed only when no answer with a peak of at most the target has it,
/// given the decisions (and given that twins are in order, see general_search.hpp).
class GeneralState {
 public:
  /// `problem` and `model`, which is made from `problem`, must outlive it.
  GeneralState(const Problem& problem, const GeneralModel& model);

  /// Resets everything and propagates what holds before the first decision. Returns false when there is no answer, or
  /// when stopped.
  bool start(std::int64_t target, const std::function<bool()>& stop);

  // Decisions. They return false when they leave no value; otherwise `propagate` must follow.
  bool assign(std::uint32_t i, std::uint32_t region);
  bool exclude(std::uint32_t i, std::uint32_t region);
  void set_least(std::uint32_t pair, std::int64_t value);  ///< The difference of the pair is at least `value`.
  void set_most(std::uint32_t pair, std::int64_t value);

  /// Propagates to the fixpoint; in a large problem, processes only as many cliques as a node can afford. Returns false
  /// when something has no value left, or when stopped.
  bool propagate();
  /// Polls `stop` at regular amounts of work, because one node of a large problem can take long.
  void look_at_clock(std::size_t work);
  /// All work so far, counted in pairs of items examined.
  [[nodiscard]] std::uint64_t work() const { return work_; }
  /// Undoes everything since `mark()` returned this value.
  void undo(std::size_t mark);

  [[nodiscard]] std::size_t mark() const { return trail_.size(); }
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] std::int64_t lower(std::uint32_t i) const { return lower_[i]; }
  [[nodiscard]] std::uint32_t region(std::uint32_t i) const { return region_[i]; }  ///< Or kNone.
  [[nodiscard]] bool may(std::uint32_t i, std::uint32_t region) const { return choices_[i * regions() + region] != 0; }
  [[nodiscard]] std::uint32_t choice_count(std::uint32_t i) const { return choice_count_[i]; }
  [[nodiscard]] std::uint32_t regions() const { return static_cast<std::uint32_t>(problem_.regions.size()); }
  /// 1 + the number of failures, in all runs, in which the item took part.
  [[nodiscard]] double weight(std::uint32_t i) const { return weight_[i]; }
  /// The least amount by which the top of the region grows when the item goes there; −1 if the region is unpaid. With
  /// several regions only.
  [[nodiscard]] std::int64_t growth(std::uint32_t i, std::uint32_t region) const;
  /// The largest and the smallest difference of a pair that limits and decisions allow.
  [[nodiscard]] std::int64_t most(std::uint32_t p) const;
  [[nodiscard]] std::int64_t least(std::uint32_t p) const;

 private:
  enum class What : std::uint8_t { lower, upper, least, most, region, choice, top };
  struct Change {
    What what;
    std::uint32_t index;
    std::int64_t old;
  };

  void clear(std::int64_t target, const std::function<bool()>& stop);
  bool start_item(std::uint32_t i);
  void undo(const Change& change);
  void clear_queues();
  void touch(std::uint32_t i);
  bool set_lower(std::uint32_t i, std::int64_t value);
  bool set_upper(std::uint32_t i, std::int64_t value);
  bool set_top(std::uint32_t region, std::int64_t value);
  void add_load(std::uint32_t i, std::uint32_t region, std::int64_t sign);
  [[nodiscard]] std::int64_t load(std::uint32_t clique, std::uint32_t region) const {
    return load_[clique * regions() + region];
  }
  [[nodiscard]] std::int64_t ceiling(std::uint32_t region) const;

  std::uint32_t next_item();
  std::uint32_t next_clique();
  bool propagate_item(std::uint32_t i);
  bool propagate_pair(std::uint32_t p);
  bool propagate_tops();
  bool propagate_clique(std::uint32_t c);
  bool shrink_clique(std::uint32_t c, std::uint32_t region);
  [[nodiscard]] bool enough_room(std::uint32_t c) const;

  const Problem& problem_;
  const GeneralModel& model_;
  std::int64_t target_ = 0;
  const std::function<bool()>* stop_ = nullptr;
  std::uint64_t work_ = 0;
  std::uint64_t next_look_ = 0;  ///< Amount of work at which `stop` is polled next.
  bool stopped_ = false;

  std::vector<std::int64_t> lower_, upper_;  ///< By item: limits of the offset.
  std::vector<std::int64_t> least_, most_;   ///< By pair: what was decided about the difference.
  std::vector<std::uint32_t> region_;        ///< By item, or kNone.
  std::vector<char> choices_;                ///< Item × region: whether still possible.
  std::vector<std::uint32_t> choice_count_;  ///< By item.
  std::vector<std::int64_t> top_;            ///< By region: a lower limit.
  /// Clique × region: bytes of the assigned items; with several regions only.
  std::vector<std::int64_t> load_;
  std::int64_t paid_ = 0;  ///< The sum of the tops of paid regions.
  std::vector<Change> trail_;
  /// `queue_`, a stack: items whose pairs must be propagated. `dirty_`, a heap with the heaviest first: cliques whose
  /// tasks changed.
  std::vector<std::uint32_t> queue_, dirty_;
  std::vector<char> queued_, is_dirty_;
  bool tops_changed_ = false;
  std::vector<double> weight_;
  EdgeFinder finder_;
  std::vector<EdgeTask> tasks_;
};

}  // namespace stowage::pack
