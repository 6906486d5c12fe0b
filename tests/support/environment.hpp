#pragma once

#include <cstdint>
#include <cstdlib>

/// How long tests with random input run. Each test has its default; these environment variables override it for all
/// tests:
///
///     STOWAGE_PROPERTY_PROBLEMS   how many graphs, problems, plans or events to draw
///     STOWAGE_PROPERTY_SEED       run only this seed, as named in a failure
///     STOWAGE_PROPERTY_FAULTS     stop after this many kinds of faults, in tests that continue after the first
namespace stowage::testing {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// The seeds that a test draws from: [first, last).
struct SeedRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  /// Whether there are enough seeds to expect that everything occurs; false if a single seed is repeated.
  [[nodiscard]] bool is_many() const { return last - first > 1; }
};

inline SeedRange seeds(std::uint64_t usual) {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  const std::uint64_t only = from_environment("STOWAGE_PROPERTY_SEED", kNone);
  if (only != kNone) return {only, only + 1};
  return {0, from_environment("STOWAGE_PROPERTY_PROBLEMS", usual)};
}

inline std::uint64_t max_fault_kinds(std::uint64_t usual) { return from_environment("STOWAGE_PROPERTY_FAULTS", usual); }

}  // namespace stowage::testing
