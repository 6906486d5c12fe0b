#include "progress.hpp"

#include <chrono>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "terminal.hpp"

namespace stowage::cli {
namespace {

constexpr const char* kEraseLine = "\r\033[K";  // back to its first column, then erase to its end

}  // namespace

Progress::Progress(std::string what)
    : what_(std::move(what)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Progress::~Progress() { thread_.request_stop(); }  // which also ends the wait in `run`

void Progress::now(std::string what) {
  const std::scoped_lock lock(mutex_);
  what_ = std::move(what);
}

void Progress::run(const std::stop_token& stop) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const int interval = terminal ? 1 : 10;
  const auto start = std::chrono::steady_clock::now();
  const auto stopped = [&] { return stop.stop_requested(); };
  std::unique_lock lock(mutex_);
  int seconds = 1;  // of the next report; after the first one, a multiple of the interval
  while (!wake_.wait_until(lock, stop, start + std::chrono::seconds(seconds), stopped)) {
    const std::string line = fmt::format("stowage: {} … {} s", what_, seconds);
    if (terminal) {
      fmt::print(stderr, "{}{} ", kEraseLine, cut(line, terminal_columns(STDERR_FILENO) - 2));
    } else {
      fmt::print(stderr, "{}\n", line);
    }
    std::fflush(stderr);
    seconds += interval - seconds % interval;
  }
  const bool reported = seconds > 1;
  if (terminal && reported) fmt::print(stderr, "{}", kEraseLine);
}

std::string progress_text(const PlanProgress& progress) {
  const auto peak = static_cast<double>(progress.peak.value());
  const auto bound = static_cast<double>(progress.lower_bound.value());
  const double gap = bound > 0 ? 100 * (peak - bound) / bound : 0;
  return fmt::format(", best {}, at least {}, gap {:.1f}%", to_human(progress.peak), to_human(progress.lower_bound),
                     gap);
}

}  // namespace stowage::cli
