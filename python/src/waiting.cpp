#include "waiting.hpp"

namespace nb = nanobind;

namespace stowage::python {
namespace {

constexpr std::chrono::milliseconds kLook{20};

/// Whether the exception that is set is KeyboardInterrupt; it is cleared then.
bool take_interrupt() {
  if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) return false;
  PyErr_Clear();
  return true;
}

bool is_unwanted(nb::handle progress) {
  return nb::hasattr(progress, "stopped") && nb::cast<bool>(progress.attr("stopped")());
}

}  // namespace

void News::put(Better better) {
  const std::lock_guard lock(mutex_);
  latest_ = std::move(better);
}

std::optional<Better> News::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(latest_, std::nullopt);
}

bool wait_for(std::shared_future<void> done, std::stop_source& stop, News& news, nb::handle progress) {
  bool interrupted = false;
  std::optional<nb::python_error> failure;
  const auto is_done = [&] {
    const nb::gil_scoped_release release;
    return done.wait_for(kLook) == std::future_status::ready;
  };
  while (!is_done()) {
    try {
      if (PyErr_CheckSignals() != 0) {
        if (interrupted || !take_interrupt()) throw nb::python_error();
        interrupted = true;
        stop.request_stop();
      }
      if (!failure && is_unwanted(progress)) {
        interrupted = true;
        stop.request_stop();
      }
      const std::optional<Better> better = failure ? std::nullopt : news.take();
      if (better && !progress.is_none())
        progress(better->arena.c_str(), better->peak.value(), better->lower_bound.value());
    } catch (nb::python_error& error) {
      failure.emplace(std::move(error));
      stop.request_stop();
    }
  }
  if (failure) throw std::move(*failure);
  return interrupted;
}

}  // namespace stowage::python
