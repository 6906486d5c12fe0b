#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace stowage::cli {

Progress::Progress(std::string what) : what_(std::move(what)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Progress::~Progress() { thread_.request_stop(); }

void Progress::run(const std::stop_token& stop) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const int pause = terminal ? 1 : 10;
  std::unique_lock lock(mutex_);
  for (int seconds = 1; !wake_.wait_for(lock, stop, std::chrono::seconds(seconds == 1 ? 1 : pause), [&] { return stop.stop_requested(); });
       seconds += seconds == 1 && pause > 1 ? pause - 1 : pause) {
    fmt::print(stderr, "{}stowage: {} … {} s{}", terminal ? "\r" : "", what_, seconds, terminal ? " " : "\n");
    std::fflush(stderr);
  }
  if (terminal) fmt::print(stderr, "\r\033[K");
}

}  // namespace stowage::cli
