#pragma once

#include <string>
#include <vector>

#include "layout/interface/layout.hpp"
#include "liveness/interface/liveness.hpp"

/// Which tensors share memory, and when that memory is needed.
namespace stowage {

struct AnalysisOptions {
  bool in_place = true;      ///< Let outputs overwrite inputs where the op allows it and the rules permit.
  bool keep_inputs = false;  ///< Inputs live to the end of the run.
  bool no_reuse = false;     ///< Everything lives through the whole run.
  std::vector<std::string> no_reuse_names = {};  ///< So do tensors, and outputs and workspaces of ops, of these names.
  FillPolicy zero_fill = FillPolicy::central;
  AddressBase base = AddressBase::fixed;
  BatchStart batch_start = BatchStart::free;
  Bytes fuse_inputs_up_to = {};  ///< Zero-copy inputs no larger than this lie next to each other in our memory instead.
};

/// The whole analysis of one graph. A plain value; refers to the graph by ids only.
struct Analysis {
  Liveness liveness;
  Layout layout;
};

/// Analyses `graph`. O(tensors + accesses + edges × streams), plus for each op a matching of its in-place pairs.
/// Cannot fail: a built Graph is consistent. Thread-safe.
[[nodiscard]] Analysis analyze(const Graph& graph, const AnalysisOptions& options = {});

}  // namespace stowage
