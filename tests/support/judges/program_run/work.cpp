#include "support/judges/program_run/work.hpp"

namespace stowage::testing {
namespace {

std::uint64_t scramble(std::uint64_t value) {
  value *= 0xc2b2ae3d27d4eb4fU;
  value ^= value >> 29;
  return value * 0x9e3779b97f4a7c15U;
}

}  // namespace

std::uint64_t number_of(std::span<const std::byte> bytes, std::uint64_t salt) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    sum += scramble(at * 0x9e3779b97f4a7c15U + std::to_integer<std::uint64_t>(bytes[at]) + salt);
  return sum;
}

void write_bytes(std::span<std::byte> bytes, std::uint64_t number, std::uint64_t salt) {
  const std::uint64_t key = salt * 0x9e3779b97f4a7c15U + number;
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::byte>(scramble(key + at) >> 56);
}

}  // namespace stowage::testing
