#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "stowage/base.hpp"

/// What ops compute in runs of programs: the arithmetic of the kernels in tests/gpu/shadow_kernels.hpp, so that a CPU,
/// a simulated device and a GPU give the same bytes.
namespace stowage::testing {

/// The work of one op. It makes a number of everything that it reads, and writes bytes that depend on that number.
struct OpWork {
  struct Part {
    std::byte* address = nullptr;
    std::size_t size = 0;
    std::uint64_t salt = 0;
  };
  StreamId stream;
  std::uint64_t seed = 0;
  std::vector<Part> reads = {};
  std::vector<Part> writes = {};   ///< After all reads, in this order.
  std::vector<Part> touches = {};  ///< Accessed, although nothing is written there.
};

/// The contribution of some bytes to the number of an op. Bytes in any order of parts.
[[nodiscard]] std::uint64_t number_of(std::span<const std::byte> bytes, std::uint64_t salt);
/// What an op with that number writes.
void write_bytes(std::span<std::byte> bytes, std::uint64_t number, std::uint64_t salt);

}  // namespace stowage::testing
