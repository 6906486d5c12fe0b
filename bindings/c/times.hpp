#pragma once

#include <chrono>
#include <optional>

namespace stowage::c {

/// A time limit as the C API states it: 0 is one second, negative none. More than a century is no limit either.
[[nodiscard]] inline std::optional<std::chrono::nanoseconds> time_limit_of(double seconds, double otherwise = 1) {
  constexpr double kCentury = 3.2e9;
  if (seconds == 0) seconds = otherwise;
  if (!(seconds >= 0) || seconds > kCentury) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

[[nodiscard]] inline std::optional<std::chrono::steady_clock::time_point> deadline_after(double seconds) {
  const std::optional<std::chrono::nanoseconds> limit = time_limit_of(seconds);
  if (!limit) return std::nullopt;
  return std::chrono::steady_clock::now() + *limit;
}

}  // namespace stowage::c
