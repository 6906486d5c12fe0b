#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "liveness/interface/sharing.hpp"
#include "liveness/interface/timeline.hpp"

namespace stowage {

/// The steps at which task ops read or write each class.
struct Accesses {
  /// Ascending, without duplicates.
  [[nodiscard]] std::span<const Step> operator[](ClassId id) const {
    return std::span(steps).subspan(begin[id.index()], begin[id.index() + 1] - begin[id.index()]);
  }

  std::vector<std::size_t> begin;  ///< By class, and the end: where its part of `steps` begins.
  std::vector<Step> steps;
};

/// Copied members are read at the step of their copy. What an op needs filled counts as written at its first copy, and
/// a whole, if there are several copies into it, from the second on. O(accesses × batches).
[[nodiscard]] Accesses collect_accesses(const Graph& graph, const Sharing& sharing, const Timeline& timeline,
                                        const CopiedMembers& copied = {});

}  // namespace stowage
