#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "stowage/base.hpp"

namespace stowage::bench {

/// Prints the reason and ends the program, because an incomplete report is of little use.
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
