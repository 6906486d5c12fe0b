#pragma once

#include <functional>
#include <string>

namespace stowage::testing {

/// What came of work that was done in a process of its own, so that an abort there is a result here.
struct ChildResult {
  bool died = false;  ///< By a signal, or in any other way that is not a return.
  std::string text;   ///< What the work returned, if it did; else what it said on the standard error.
};

/// Precondition: the calling process has one thread.
[[nodiscard]] ChildResult run_in_child(const std::function<std::string()>& work);

}  // namespace stowage::testing
