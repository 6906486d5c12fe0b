#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stowage::bench {

/// How long to measure. A measurement is repeated for about `seconds`, within the limits `at_least` and `at_most`.
struct Effort {
  double seconds = 0.3;
  std::size_t at_least = 3;
  std::size_t at_most = 50;
  std::uint64_t seeds = 10;  ///< For searches on the challenging set.
  /// Time limit for each search on the challenging set, and for each row of the curve.
  std::chrono::seconds patience{10};
  std::size_t most_items = 1'000'000;  ///< In the curve.
};

inline constexpr Effort kQuick{.seconds = 0.03,
                               .at_least = 1,
                               .at_most = 5,
                               .seeds = 3,
                               .patience = std::chrono::seconds(2),
                               .most_items = 100'000};

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Wall-clock milliseconds. On a shared machine the best shows the cost of the code,
/// the median what one usually observes.
struct Timing {
  double best = 0;
  double median = 0;
};

/// Of an even number of values, the upper of the two in the middle. Precondition: not empty.
template <class T>
[[nodiscard]] T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Runs `work` repeatedly. The time does not include destroying its result.
template <class Work>
Timing measure(const Effort& effort, Work&& work) {
  std::vector<double> times;
  double total = 0;
  while (times.size() < effort.at_least || (times.size() < effort.at_most && total < effort.seconds * 1e3)) {
    const Clock::time_point start = Clock::now();
    [[maybe_unused]] const auto result = work();
    times.push_back(milliseconds_since(start));
    total += times.back();
  }
  return {*std::min_element(times.begin(), times.end()), median(times)};
}

/// "0.123", "1.23", "12.3", "123": three significant digits, no more than three decimals.
[[nodiscard]] std::string to_text(double milliseconds);
/// "best / median".
[[nodiscard]] std::string to_text(const Timing& timing);

}  // namespace stowage::bench
