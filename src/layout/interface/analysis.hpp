#pragma once

#include <string>
#include <vector>

#include "layout/interface/layout.hpp"
#include "liveness/interface/liveness.hpp"

/// Which tensors share memory, and when that memory is needed.
namespace stowage {

struct AnalysisOptions {
  bool in_place = true;      ///< Outputs overwrite inputs where the op and the rules allow it.
  bool keep_inputs = false;  ///< Inputs live to the end of the run.
  bool no_reuse = false;     ///< Everything lives through the whole run.
  /// Tensors with these names, and the outputs and workspaces of ops with these names, live through the whole run.
  std::vector<std::string> no_reuse_names = {};
  FillPolicy zero_fill = FillPolicy::central;
  AddressBase base = AddressBase::fixed;
  BatchStart batch_start = BatchStart::free;
  Padding padding = Padding::own;
  /// Zero-copy inputs up to this size are not bound, but lie next to each other in our memory.
  Bytes fuse_inputs_up_to = {};
  /// Members of groups to copy even where they could lie where the op needs them. Ignored where an alias puts the
  /// member there in any case, and where there is no room for the copy before the op.
  CopiedMembers copied = {};
};

/// The whole analysis of one graph. A plain value; refers to the graph by ids only.
struct Analysis {
  Liveness liveness;
  Layout layout;
};

/// Analyses `graph`. O(tensors + accesses + edges × streams), plus a matching of the in-place pairs of each op. Cannot
/// fail: a built Graph is consistent. Thread-safe.
[[nodiscard]] Analysis analyze(const Graph& graph, const AnalysisOptions& options = {});

/// All members of groups that may be copied, without reasons: not those of contiguous outputs, and not those that
/// aliases put where the whole needs them. O(members).
[[nodiscard]] CopiedMembers copyable_members(const Graph& graph, const Sharing& sharing);

}  // namespace stowage
