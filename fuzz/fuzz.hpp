#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "stowage/base.hpp"

/// What the targets share: how they complain.
namespace stowage::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Stops the fuzzer, which keeps the input, when something that must hold does not.
inline void expect(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

/// A refusal must tell people something and name the file.
inline void expect_useful(const Error& error) {
  expect(!error.message.empty(), "an error without a message");
  expect(error.where.file == "fuzz", "an error that does not name the file");
}

}  // namespace stowage::fuzz
