#include "progress.hpp"

#include <chrono>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace stowage::cli {

Progress::Progress(std::string what)
    : what_(std::move(what)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Progress::~Progress() { thread_.request_stop(); }

void Progress::now(std::string what) {
  const std::scoped_lock lock(mutex_);
  what_ = std::move(what);
}

void Progress::run(const std::stop_token& stop) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const int pause = terminal ? 1 : 10;
  const auto start = std::chrono::steady_clock::now();
  const auto stopped = [&] { return stop.stop_requested(); };
  std::unique_lock lock(mutex_);
  int seconds = 1;
  for (; !wake_.wait_until(lock, stop, start + std::chrono::seconds(seconds), stopped);
       seconds += pause - seconds % pause) {
    fmt::print(stderr, "{}stowage: {} … {} s{}", terminal ? "\r\033[K" : "", what_, seconds, terminal ? " " : "\n");
    std::fflush(stderr);
  }
  if (terminal && seconds > 1) fmt::print(stderr, "\r\033[K");
}

}  // namespace stowage::cli
