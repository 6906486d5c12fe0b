#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pack/index/interval_kd_tree.hpp"
#include "pack/index/max_segment_tree.hpp"
#include "pack/index/valley_list.hpp"
#include "pack/plain.hpp"

namespace stowage::pack {

/// The skyline greedy for problems of any size. Gives exactly the answers of the reference (`FlatSkyline`, in the
/// tests), in about O(n log n) in practice.
///
/// Where the reference scans every section of a valley and every item of a section, this asks an index:
/// 1. Any valley will do, because valleys do not affect each other until they join (see `ValleyList`): take the
///    nearest.
/// 2. A segment tree gives its section with the most remaining bytes; a placed item's bytes are subtracted in O(log n).
/// 3. A kd-tree over (first, last) gives the best item that covers this section and lies within the valley.
/// 4. If there is none, the stretch around the section that no unplaced item within the valley touches is raised at
///    once to the valley's brim. The parts of the valley to the left and right are independent until they have risen to
///    that level, so the result is the same as trying one section after the other.
///
/// About 100 bytes per item. Keeps a reference to `plain`. Reuses its memory from run to run; not thread-safe.
class IndexedSkyline {
 public:
  IndexedSkyline(const IndexedSkyline&) = delete;
  IndexedSkyline& operator=(const IndexedSkyline&) = delete;
  explicit IndexedSkyline(const Plain& plain);

  /// Returns the peak and fills `offsets`; or, as soon as the peak is known to exceed `limit`, returns something above
  /// `limit`.
  std::int64_t run(std::span<const double> priority, std::int64_t limit, std::vector<std::int64_t>& offsets);

 private:
  void reset(std::span<const double> priority);

  const Plain& plain_;
  // The items in order of time, so that items that are close in time are close in memory.
  /// The item's number in `plain_`. The following arrays use the same numbering.
  std::vector<std::uint32_t> item_;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> last_;
  std::vector<std::int64_t> size_;
  std::vector<std::int64_t> alignment_;
  IntervalKdTree unplaced_;
  MaxSegmentTree remaining_;  ///< By section: bytes of unplaced items.
  ValleyList valleys_;
};

}  // namespace stowage::pack
