#pragma once

#include <cstdint>
#include <cstdlib>

namespace stowage::testing {

/// A number for long runs and for one seed again, as the test says that reads it.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace stowage::testing
