#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pack/index/interval_kd_tree.hpp"
#include "pack/index/max_segment_tree.hpp"
#include "pack/index/valley_list.hpp"
#include "pack/plain.hpp"

namespace stowage::pack {

/// The skyline greedy for problems of any size: the answers of `Skyline`, byte for byte, in about O(n log n) in
/// practice.
///
/// Where `Skyline` looks at every section of a valley and at every item of a section, this asks an index:
/// 1. any valley will do, for valleys do not depend on each other until they join (see `ValleyList`): the nearest;
/// 2. its section with most bytes still to come from a segment tree, which takes a placed item's bytes off in O(log n);
/// 3. the best item that covers this section within the valley from a kd-tree over (first, last);
/// 4. when there is none, the stretch around the section that no unplaced item within the valley touches is raised at
/// once to
///    the valley's brim. What lies left and right of it in the valley is independent until it has risen to there, which
///    is why nothing changes against trying one section after the other.
///
/// About 100 bytes per item. Keeps a reference to `plain`. Reuses its memory from run to run; not thread-safe.
class IndexedSkyline {
 public:
  IndexedSkyline(const IndexedSkyline&) = delete;
  IndexedSkyline& operator=(const IndexedSkyline&) = delete;
  explicit IndexedSkyline(const Plain& plain);

  /// The peak, with `offsets` filled in; or, as soon as it is known to exceed `limit`, something above `limit`.
  std::int64_t run(std::span<const double> priority, std::int64_t limit, std::vector<std::int64_t>& offsets);

 private:
  void reset(std::span<const double> priority);

  const Plain& plain_;
  // The items in the order of time, which keeps near in memory what is near in time.
  std::vector<std::uint32_t> item_;  ///< The number in `plain_`. What follows is numbered like this.
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> last_;
  std::vector<std::int64_t> size_;
  std::vector<std::int64_t> alignment_;
  IntervalKdTree unplaced_;
  MaxSegmentTree remaining_;  ///< By section: bytes still to come.
  ValleyList valleys_;
};

}  // namespace stowage::pack
