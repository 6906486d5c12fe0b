#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace stowage::cli {

/// Reports on standard error what is being done once it has taken more than a second: an updated line on a terminal, a
/// line every ten seconds elsewhere. The destructor ends the line.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Changes the text.
  void now(std::string what);

 private:
  void run(const std::stop_token& stop);

  std::string what_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  ///< Last member: started after the others exist, joined before they are destroyed.
};

}  // namespace stowage::cli
