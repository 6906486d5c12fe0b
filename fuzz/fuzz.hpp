#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "stowage/base.hpp"

/// Checks that the fuzz targets share.
namespace stowage::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Stops the fuzzer, which keeps the input, if `holds` is false.
inline void expect(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

/// An error must have a message and name the file.
inline void expect_useful(const Error& error) {
  expect(!error.message.empty(), "an error without a message");
  expect(error.where.file == "fuzz", "an error that does not name the file");
}

}  // namespace stowage::fuzz
