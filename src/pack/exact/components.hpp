#pragma once

#include <vector>

#include "pack/bench.hpp"

namespace stowage::pack {

/// Items of a problem with one region that meet, directly or through others, and the pinned items that they meet.
/// Pinned items never move, so they connect nothing; each component has a copy of those that it meets. Components can
/// be solved separately: the smallest peak of the whole is the largest of theirs and of the pinned items'.
struct Component {
  std::vector<std::size_t> items;  ///< Indices in the problem, ascending.
  Problem problem;                 ///< The problem of these items alone.
};

/// All components that contain an unpinned item of nonzero size. Whether items meet is decided by time alone, not by
/// bytes. O(n log n) for n pieces; with stream order O(n log n + n × streams), and O(n × streams) more per pinned item.
/// With stream order, none if there are more than 20 million pairs of a pinned item and another item. Precondition: one
/// region.
[[nodiscard]] std::vector<Component> find_components(const Problem& problem);

/// If there are several components, solves them separately. Returns whether it did.
///
/// Each component starts from its part of the best answer. Components whose peak is at most the bound of the whole are
/// done. Of the others, the highest is always searched next, with a node budget that doubles from visit to visit, since
/// nothing is gained elsewhere until that one is lower. A bound that is proven for one component holds for the whole.
bool solve_components(Bench& bench);

}  // namespace stowage::pack
