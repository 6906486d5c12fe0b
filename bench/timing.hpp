#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stowage::bench {

/// How much time a run may take. An entry is repeated for about `seconds`, within the two limits behind it.
struct Effort {
  double seconds = 0.3;
  std::size_t at_least = 3;
  std::size_t at_most = 50;
  std::uint64_t seeds = 10;            ///< Of searches on the challenging set.
  std::chrono::seconds patience{10};   ///< With one question there, and with one row of the curve.
  std::size_t most_items = 1'000'000;  ///< Of the curve.
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

/// Wall-clock milliseconds. The machine is shared with others: the best says what the code costs, the median what one
/// sees.
struct Timing {
  double best = 0;
  double median = 0;
};

/// The upper one of two. Precondition: not empty.
template <class T>
[[nodiscard]] T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Runs `work`, which returns something, again and again. Destroying what it returns is not part of the time.
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
