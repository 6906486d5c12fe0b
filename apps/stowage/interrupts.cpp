#include "interrupts.hpp"

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <unistd.h>

#include "stowage/files.hpp"

namespace stowage::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// Never destroyed: the thread that waits for signals outlives `main`.
struct Current {
  std::mutex mutex;
  std::stop_source* work = nullptr;
};
Current& current() {
  static Current& instance = *new Current;
  return instance;
}

/// Whether there was work to stop that had not been told yet.
bool stop_work() {
  const std::scoped_lock lock(current().mutex);
  return current().work != nullptr && current().work->request_stop();
}

/// Waits for signals in a thread of its own, where everything is allowed, unlike in a signal handler.
void wait_for(const sigset_t& signals) {
  while (true) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    if (signal == SIGINT && stop_work()) continue;
    abandon_writes();
    _exit(128 + signal);
  }
}

bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void handle_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals) {
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // all threads inherit it
  std::thread([signals] { wait_for(signals); }).detach();
}

StoppableWork::StoppableWork() {
  const std::scoped_lock lock(current().mutex);
  current().work = &source_;
}

StoppableWork::~StoppableWork() {
  const std::scoped_lock lock(current().mutex);
  current().work = nullptr;
}

}  // namespace stowage::cli
