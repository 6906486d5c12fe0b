#pragma once

#include <string>

#include "stowage/graph.hpp"
#include "stowage/io.hpp"
#include "stowage/plan.hpp"

namespace stowage::cli {

/// What a plan of a TFLite model means for TFLM's arena: lines that follow the summary.
std::string tflm_text(const ModelFile& model, const Graph& graph, const Plan& plan, const ImportOptions& options);

/// What became of a plan in a copy, if it was not written: that TFLM needs less without it. Else empty.
std::string tflm_copy_text(const ModelFile& model, const Plan& plan, const ImportOptions& options);

}  // namespace stowage::cli
