#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "stowage/planner.hpp"

namespace stowage::cli {

/// Reports on standard error what is being done and for how long, once it has taken a second: on a terminal one line,
/// updated every second and erased by the destructor; elsewhere a line after one second and then every ten seconds.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Changes what is reported as being done.
  void now(std::string what);

 private:
  void run(const std::stop_token& stop);

  std::string what_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  ///< Last member: started after the others exist, joined before they are destroyed.
};

/// ", best 1.25 MiB, at least 1.20 MiB, gap 4.2%".
[[nodiscard]] std::string progress_text(const PlanProgress& progress);

}  // namespace stowage::cli
