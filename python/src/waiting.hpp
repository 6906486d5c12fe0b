#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <nanobind/nanobind.h>

#include "stowage/base.hpp"
#include "stowage/base/check_guard.hpp"

/// Long work that a person may watch and interrupt.
namespace stowage::python {

/// How far a search has got.
struct Better {
  std::string arena;
  Bytes peak;
  Bytes lower_bound;
};

/// Takes the news from the thread that works to the one that shows them.
class News {
 public:
  void put(Better better);
  [[nodiscard]] std::optional<Better> take();

 private:
  std::mutex mutex_;
  std::optional<Better> latest_;
};

/// Waits without the GIL until `done` is ready. Meanwhile it gives the news to `progress`, a callable of (arena, peak,
/// lower bound) or None, and looks for signals: Ctrl-C requests the stop, a second one is raised as KeyboardInterrupt
/// once the work has ended. Any other exception, of a signal handler or of `progress`, also requests the stop and is
/// raised then. A `progress` with a method `stopped` is asked whether the work should end, which is for threads that
/// get no signals. Returns whether Ctrl-C was pressed, or that method said so.
bool wait_for(std::shared_future<void> done, std::stop_source& stop, News& news, nanobind::handle progress);

template <class T>
struct Outcome {
  T value;
  bool interrupted = false;
};

/// Runs `work` on a thread of its own, so that signals reach Python meanwhile. With the GIL held.
template <class Work>
auto run_interruptibly(Work&& work, std::stop_source& stop, News& news, nanobind::handle progress)
    -> Outcome<decltype(work())> {
  std::promise<decltype(work())> result;
  std::promise<void> done;
  std::jthread worker([&] {
    try {
      const detail::CheckGuard guard;
      result.set_value(work());
    } catch (...) {
      result.set_exception(std::current_exception());
    }
    done.set_value();
  });
  const bool interrupted = wait_for(done.get_future().share(), stop, news, progress);
  return {result.get_future().get(), interrupted};
}

}  // namespace stowage::python
