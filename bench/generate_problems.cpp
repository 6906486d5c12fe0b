#include "generate_problems.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <utility>

namespace stowage::bench {
namespace {

constexpr std::int64_t kGrain = 64;  ///< All sizes are multiples of it, as in a real arena.

/// Random numbers computed from the engine alone, because the standard distributions differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// In [0, n). The bias of the remainder is negligible here.
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }
  /// In [0, 1).
  double fraction() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  /// In [low, high]; all powers of two are equally likely, and numbers between two of them are uniform. Precondition: 0
  /// < low <= high.
  std::int64_t log_uniform(std::int64_t low, std::int64_t high) {
    const auto powers = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(high / low)));
    const std::int64_t from = low << below(powers);
    return std::min(high, from + below(from));
  }

 private:
  std::mt19937_64 engine_;
};

Item make_item(std::int64_t begin, std::int64_t end, std::int64_t size) {
  return {
      .pieces = {{{Step(begin), Step(end)}, {Bytes(0), Bytes(size)}}}, .size = Bytes(size), .alignment = Bytes(kGrain)};
}

std::int64_t pareto_size(Random& random) {
  constexpr double kMost = 1 << 24;
  return kGrain * static_cast<std::int64_t>(std::min(kMost, 1 / (1 - random.fraction())));
}

/// Four in five end within 32 steps; one in fifty may live for a quarter of all steps.
std::int64_t mixed_life(Random& random, std::int64_t steps) {
  const std::int64_t kind = random.below(50);
  if (kind < 40) return 1 + random.below(32);
  return random.log_uniform(
      32, std::max<std::int64_t>(32, kind < 49 ? std::min<std::int64_t>(2048, steps / 4) : steps / 4));
}

struct Rectangle {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t rows;  ///< Of kGrain bytes each. Their offset is not recorded, since it would be the solution.

  [[nodiscard]] std::int64_t steps() const { return end - begin; }
  [[nodiscard]] std::int64_t area() const { return steps() * rows; }
};

/// Cuts `whole` in two and returns the second part. Precondition: its area is more than 1.
Rectangle cut(Rectangle& whole, Random& random) {
  Rectangle rest = whole;
  const bool in_time = whole.rows == 1 || (whole.steps() > 1 && random.below(2) == 0);
  if (in_time) {
    whole.end = rest.begin = whole.begin + 1 + random.below(whole.steps() - 1);
  } else {
    whole.rows = 1 + random.below(whole.rows - 1);
    rest.rows -= whole.rows;
  }
  return rest;
}

}  // namespace

Problem make_random(std::size_t items, std::size_t meetings) {
  Random random(items * 31 + meetings);
  Problem problem;
  for (std::int64_t begin = 0; std::cmp_less(begin, items); ++begin) {
    const std::int64_t life = 1 + random.below(static_cast<std::int64_t>(2 * meetings + 1));
    const std::int64_t units = 1 + random.below(16);
    problem.items.push_back(make_item(begin, begin + life, kGrain * units << random.below(8)));
  }
  return problem;
}

Problem make_heavy_tail(std::size_t items) {
  Random random(items);
  Problem problem;
  problem.items.reserve(items);
  for (std::int64_t begin = 0; std::cmp_less(begin, items); ++begin) {
    const std::int64_t life = mixed_life(random, static_cast<std::int64_t>(items));
    problem.items.push_back(make_item(begin, begin + life, pareto_size(random)));
  }
  return problem;
}

Problem make_dense(std::size_t items) {
  constexpr std::int64_t kLargest = 16 << 20;
  Random random(items);
  Problem problem;
  problem.items.reserve(items);
  const std::int64_t longest = std::max<std::int64_t>(1, static_cast<std::int64_t>(items) / 8);
  for (std::int64_t begin = 0; std::cmp_less(begin, items); ++begin) {
    const std::int64_t life = random.log_uniform(1, longest);
    problem.items.push_back(make_item(begin, begin + life, kGrain * random.log_uniform(1, kLargest / kGrain)));
  }
  return problem;
}

Problem make_tight(std::size_t items, std::uint64_t seed) {
  Random random(items + (seed << 32U));
  std::vector<Rectangle> parts = {{0, 4 * static_cast<std::int64_t>(items), kTightHeight.value() / kGrain}};
  const auto pick = [&] { return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(parts.size()))); };
  while (parts.size() < items) {
    const std::size_t one = pick();
    const std::size_t other = pick();
    Rectangle& larger = parts[one].area() > parts[other].area() ? parts[one] : parts[other];
    if (larger.area() == 1) continue;
    const Rectangle rest = cut(larger, random);
    parts.push_back(rest);
  }
  Problem problem;
  for (const Rectangle& part : parts) problem.items.push_back(make_item(part.begin, part.end, kGrain * part.rows));
  return problem;
}

}  // namespace stowage::bench
