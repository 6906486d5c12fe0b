#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace stowage::cli {

/// Says on standard error what takes long, once it has taken more than a second: a running line on a terminal, a line
/// every ten seconds elsewhere. Destroying it ends the line.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Something else is being done now.
  void now(std::string what);

 private:
  void run(const std::stop_token& stop);

  std::string what_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  ///< Last: started when the rest is there, joined before it goes.
};

}  // namespace stowage::cli
