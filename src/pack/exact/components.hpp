#pragma once

#include <vector>

#include "pack/bench.hpp"

namespace stowage::pack {

/// Items of a problem with one region that meet, directly or through others, and the pinned items that they meet.
/// Pinned items lie where they lie whoever solves what, so that they connect nothing; a component takes a copy of each
/// that it meets. Components can be solved apart: the least peak of the whole is the largest of theirs and of the
/// pinned items'.
struct Component {
  std::vector<std::size_t> items;  ///< Indices in the problem, ascending.
  Problem problem;                 ///< These alone.
};

/// All components that have an unpinned item of some size. Time alone decides, not bytes. O(n log n) for n pieces; with
/// stream order O(n log n + n × streams), for each pinned item too, and none above 20 million pairs of these.
/// Precondition: one region.
[[nodiscard]] std::vector<Component> find_components(const Problem& problem);

/// Solves the components apart, where there are several, and says whether it did.
///
/// Each component starts from what the best answer has for it. Those that already end below the bound of the whole are
/// done; of the others always the highest is searched, with nodes that double from visit to visit, for until that one
/// is lower nothing is gained elsewhere. What is proven of one component holds for the whole.
bool solve_components(Bench& bench);

}  // namespace stowage::pack
