#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// The arithmetic of shadow execution: patterns, hashes and comparisons of memory, 8 bytes at a time. A last word that
/// is not whole counts as if followed by zeros.
namespace stowage::testing {

/// Bytes to read. Where `mask` is not empty it has their length, and what it zeroes is undefined and reads as zero.
struct Operand {
  std::span<const std::byte> bytes;
  std::span<const std::byte> mask = {};
};

/// Which end an op that works element by element starts from.
enum class Direction : std::uint8_t { forward, backward };

/// A well mixed word from two.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = (a ^ (b * 0x9e3779b97f4a7c15u)) + 0xd1b54a32d192ed03u;
  x = (x ^ (x >> 32)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebu;
  return x ^ (x >> 32);
}

[[nodiscard]] std::uint64_t hash(const Operand& operand);

/// Writes the pattern that belongs to `key`.
void fill(std::span<std::byte> bytes, std::uint64_t key);
/// The first byte that differs from the pattern that belongs to `key`.
[[nodiscard]] std::optional<std::size_t> first_unlike_fill(std::span<const std::byte> bytes, std::uint64_t key);

/// The first byte that differs between two operands of one length.
[[nodiscard]] std::optional<std::size_t> first_difference(const Operand& a, const Operand& b);

/// Word j of each output becomes a mix of `key`, the output's position, j, and word j of each input that is so long.
/// The inputs' words j are read before any word j is written; inputs and outputs may overlap.
void write_elementwise(std::span<const Operand> inputs, std::span<const std::span<std::byte>> outputs,
                       std::uint64_t key, Direction direction);

}  // namespace stowage::testing
