#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "stowage/base.hpp"

namespace stowage::bench {

/// Half a report is worth little: what should have worked and did not ends the program, with the reason.
[[noreturn]] inline void exit_with(const Error& error) {
  fmt::print(stderr, "stowage_bench: {}\n", to_string(error));
  std::exit(1);
}

template <class T>
T value_or_exit(Result<T> result) {
  if (!result) exit_with(result.error());
  return std::move(result).value();
}

}  // namespace stowage::bench
