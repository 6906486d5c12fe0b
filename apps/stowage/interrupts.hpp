#pragma once

#include <stop_token>

/// Ctrl-C and requests to end.
namespace stowage::cli {

/// From now on, SIGINT (Ctrl-C), SIGTERM and SIGHUP end the process with 128 plus the signal's number, and leave no
/// temporary file behind. A signal that is ignored stays ignored. Call it before any thread is started.
void handle_interrupts();

/// While it exists, the first Ctrl-C only requests a stop, so that the work ends with what it has; the second one ends
/// the process. One at a time.
class StoppableWork {
 public:
  StoppableWork();
  ~StoppableWork();
  StoppableWork(const StoppableWork&) = delete;
  StoppableWork& operator=(const StoppableWork&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  [[nodiscard]] bool stopped() const { return source_.stop_requested(); }

 private:
  std::stop_source source_;
};

}  // namespace stowage::cli
