#include "support/judges/shadow/hash.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

namespace stowage::testing {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

std::size_t words(std::size_t bytes) { return (bytes + kWord - 1) / kWord; }

std::uint64_t load(std::span<const std::byte> bytes, std::size_t word) {
  const std::size_t at = word * kWord;
  std::uint64_t value = 0;
  if (at + kWord <= bytes.size()) {
    std::memcpy(&value, bytes.data() + at, kWord);
  } else if (at < bytes.size()) {
    std::memcpy(&value, bytes.data() + at, bytes.size() - at);
  }
  return value;
}

std::uint64_t load(const Operand& operand, std::size_t word) {
  const std::uint64_t value = load(operand.bytes, word);
  return operand.mask.empty() ? value : value & load(operand.mask, word);
}

void store(std::span<std::byte> bytes, std::size_t word, std::uint64_t value) {
  const std::size_t at = word * kWord;
  if (at + kWord <= bytes.size()) {
    std::memcpy(bytes.data() + at, &value, kWord);
  } else if (at < bytes.size()) {
    std::memcpy(bytes.data() + at, &value, bytes.size() - at);
  }
}

std::uint64_t absorb(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0xbf58476d1ce4e5b9u;
  return state ^ (state >> 32);
}

/// The operand's bytes with the undefined ones zeroed; uses `scratch` only where there are any.
std::span<const std::byte> defined(const Operand& operand, std::vector<std::byte>& scratch) {
  if (operand.mask.empty()) return operand.bytes;
  scratch.resize(operand.bytes.size());
  std::transform(operand.bytes.begin(), operand.bytes.end(), operand.mask.begin(), scratch.begin(), std::bit_and<>());
  return scratch;
}

}  // namespace

std::uint64_t hash(const Operand& operand) {
  std::vector<std::byte> scratch;
  const std::span<const std::byte> bytes = defined(operand, scratch);
  // Four independent chains: one would wait for each multiplication.
  std::array<std::uint64_t, 4> lanes = {1, 2, 3, 4};
  const std::size_t whole = bytes.size() / kWord / lanes.size() * lanes.size();
  for (std::size_t word = 0; word < whole; word += lanes.size()) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] = absorb(lanes[lane], load(bytes, word + lane));
  }
  std::uint64_t result = bytes.size();
  for (const std::uint64_t lane : lanes) result = mix(result, lane);
  for (std::size_t word = whole; word < words(bytes.size()); ++word) result = mix(result, load(bytes, word));
  return result;
}

void fill(std::span<std::byte> bytes, std::uint64_t key) {
  for (std::size_t word = 0; word < words(bytes.size()); ++word) store(bytes, word, mix(key, word));
}

std::optional<std::size_t> first_unlike_fill(std::span<const std::byte> bytes, std::uint64_t key) {
  for (std::size_t word = 0; word < words(bytes.size()); ++word) {
    std::array<std::byte, kWord> expected{};
    store(expected, 0, mix(key, word));
    const std::size_t at = word * kWord;
    const std::size_t length = std::min(kWord, bytes.size() - at);
    if (std::memcmp(bytes.data() + at, expected.data(), length) == 0) continue;
    const auto differs =
        std::mismatch(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(length), &bytes[at]);
    return at + static_cast<std::size_t>(differs.first - expected.begin());
  }
  return std::nullopt;
}

std::optional<std::size_t> first_difference(const Operand& a, const Operand& b) {
  std::vector<std::byte> scratch_a;
  std::vector<std::byte> scratch_b;
  const std::span<const std::byte> left = defined(a, scratch_a);
  const std::span<const std::byte> right = defined(b, scratch_b);
  if (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0) return std::nullopt;
  return static_cast<std::size_t>(std::mismatch(left.begin(), left.end(), right.begin()).first - left.begin());
}

void write_elementwise(std::span<const Operand> inputs, std::span<const std::span<std::byte>> outputs,
                       std::uint64_t key, Direction direction) {
  std::size_t count = 0;
  for (const std::span<std::byte> output : outputs) count = std::max(count, words(output.size()));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t word = direction == Direction::forward ? i : count - 1 - i;
    std::uint64_t state = key;
    for (const Operand& input : inputs) {
      if (word < words(input.bytes.size())) state = absorb(state, load(input, word));
    }
    for (std::size_t output = 0; output < outputs.size(); ++output) {
      store(outputs[output], word, mix(state + output, word));
    }
  }
}

}  // namespace stowage::testing
