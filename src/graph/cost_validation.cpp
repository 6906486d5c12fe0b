#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "graph/validation.hpp"

/// The rules of numbers that say how long something takes.
namespace stowage::validation {
namespace {

bool is_amount(const std::optional<double>& value) { return !value || (std::isfinite(*value) && *value >= 0); }

Status check_op(const Op& op, OpId id) {
  const auto refuse = [&](std::string_view field, std::string_view has, double value) {
    return fault_at(fmt::format("ops[{}].{}", id.index(), field),
                    fmt::format("{} has {} {}, which is not a number of at least 0", describe(op, id), has, value));
  };
  if (!is_amount(op.cost)) return refuse("cost", "the cost", *op.cost);
  if (!is_amount(op.flops)) return refuse("flops", "the number of operations", *op.flops);
  if (!op.trip_count) return Done{};
  const std::string path = fmt::format("ops[{}].trip_count", id.index());
  if (op.control != Control::loop) return fault_at(path, describe(op, id) + " has a trip count, which only loops have");
  if (*op.trip_count >= 0 && *op.trip_count <= kMaxBytes.value()) return Done{};
  return fault_at(
      path, fmt::format("{} has the trip count {}, which is not from 0 to 2^62", describe(op, id), *op.trip_count));
}

}  // namespace

Status check_costs(const GraphDescription& description) {
  for (std::size_t m = 0; m < description.memories.size(); ++m) {
    const Memory& memory = description.memories[m];
    if (!memory.bandwidth || (std::isfinite(*memory.bandwidth) && *memory.bandwidth > 0)) continue;
    return fault_at(fmt::format("memories[{}].bandwidth", m),
                    fmt::format("memory '{}' ({}) has the bandwidth {}, which is not a number above 0", memory.name, m,
                                *memory.bandwidth));
  }
  for (std::size_t k = 0; k < description.ops.size(); ++k) STOWAGE_TRY_STATUS(check_op(description.ops[k], OpId(k)));
  return Done{};
}

}  // namespace stowage::validation
