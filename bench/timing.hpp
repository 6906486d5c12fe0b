#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace stowage::bench {

/// How often an entry is repeated: about `seconds` in all, within the two limits.
struct Effort {
  double seconds = 0.3;
  std::size_t at_least = 3;
  std::size_t at_most = 50;
};

inline constexpr Effort kQuick{.seconds = 0.03, .at_least = 1, .at_most = 5};

/// Wall-clock milliseconds. The machine is shared with others: the best says what the code costs, the median what one sees.
struct Timing {
  double best = 0;
  double median = 0;
};

/// Runs `work`, which returns something, again and again. Destroying what it returns is not part of the time.
template <class Work>
Timing measure(const Effort& effort, Work&& work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  double total = 0;
  while (times.size() < effort.at_least || (times.size() < effort.at_most && total < effort.seconds * 1e3)) {
    const Clock::time_point start = Clock::now();
    [[maybe_unused]] const auto result = work();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    total += times.back();
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

/// "0.123", "1.23", "12.3", "123": three significant digits, no more than three decimals.
[[nodiscard]] std::string to_text(double milliseconds);
/// "best / median".
[[nodiscard]] std::string to_text(const Timing& timing);

}  // namespace stowage::bench
