#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "stowage/pack.hpp"

namespace stowage::python {

/// How to search, as Python gives it.
struct SearchArguments {
  std::string solver;
  std::optional<double> time_limit;  ///< In seconds; absent: none.
  std::uint32_t threads;
  std::uint64_t seed;
  std::optional<std::uint64_t> node_budget;
};

[[nodiscard]] inline std::optional<std::chrono::nanoseconds> duration_of(std::optional<double> seconds) {
  constexpr double kCentury = 3.2e9;
  if (!seconds || !(*seconds < kCentury)) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::max(0.0, *seconds) * 1e9));
}

}  // namespace stowage::python
