#pragma once

#include <functional>
#include <string>

namespace stowage::testing {

/// The result of a function that ran in a child process, so that an abort can be observed.
struct ChildResult {
  bool died = false;  ///< By a signal, or in any other way that is not a return.
  std::string text;   ///< What the function returned; if it died, its standard error.
};

/// Precondition: the calling process has one thread.
[[nodiscard]] ChildResult run_in_child(const std::function<std::string()>& work);

}  // namespace stowage::testing
