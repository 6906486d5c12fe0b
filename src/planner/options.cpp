#include <algorithm>

#include "planner/interface/record.hpp"

namespace stowage {

AnalysisOptions analysis_options(const PlanOptions& options) {
  return {.in_place = options.in_place,
          .keep_inputs = options.keep_inputs,
          .no_reuse = options.no_reuse,
          .no_reuse_names = options.no_reuse_names,
          .zero_fill = options.zero_fill,
          .base = options.base,
          .batch_start = options.batch_start,
          .padding = options.padding,
          .fuse_inputs_up_to = options.fuse_inputs_up_to};
}

std::optional<Bytes> capacity_of(const PlanOptions& options, const std::vector<Bytes>& weights, MemoryId memory) {
  if (!options.capacity_total) return options.capacity;
  const Bytes rest = *options.capacity_total - weights[memory.index()];
  return std::min(rest, options.capacity.value_or(rest));
}

LowerOptions lower_options(const PlanOptions& options) {
  return {.capacity = options.capacity, .region_limit = options.region_limit};
}

}  // namespace stowage
