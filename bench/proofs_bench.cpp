#include <algorithm>
#include <array>
#include <random>
#include <ranges>

#include <fmt/format.h>

#include "sections.hpp"
#include "stowage/pack.hpp"
#include "table.hpp"

/// How much search a proof takes: small problems whose optimum is above every bound that needs no search.
namespace stowage::bench {
namespace {

constexpr std::uint64_t kProblems = 3'000;
constexpr std::uint64_t kNodes = 100'000;  ///< Per problem.
constexpr std::int64_t kHeight = 24;
constexpr std::int64_t kSteps = 14;
constexpr std::int64_t kLongest = 6;
constexpr std::size_t kItems = 22;

/// Adds random items while at no step more than `kHeight` bytes are live.
Problem make_crowded(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  std::array<std::int64_t, kSteps + kLongest> live{};
  Problem problem;
  for (int tries = 0; tries < 200 && problem.items.size() < kItems; ++tries) {
    const std::int64_t begin = below(kSteps);
    const std::int64_t end = begin + 1 + below(kLongest);
    const std::int64_t size = 1 + below(9);
    const auto steps = std::ranges::subrange(live.begin() + begin, live.begin() + end);
    if (std::ranges::any_of(steps, [&](std::int64_t bytes) { return bytes + size > kHeight; })) continue;
    for (std::int64_t& bytes : steps) bytes += size;
    problem.items.push_back({.pieces = {{{Step(begin), Step(end)}, {Bytes(0), Bytes(size)}}}, .size = Bytes(size)});
  }
  return problem;
}

}  // namespace

std::vector<Limited> bench_proofs(const Options&) {
  std::size_t hard = 0;
  std::size_t proven = 0;
  std::uint64_t nodes = 0;
  for (std::uint64_t seed = 0; seed < kProblems; ++seed) {
    const Problem problem = make_crowded(seed);
    const SolveOutcome outcome = *solve(problem, {.node_budget = kNodes});
    const bool searched = outcome.bound.argument == Certificate::Argument::exhausted_search;
    if (outcome.peak == lower_bound(problem).bytes && !searched) continue;
    ++hard;
    proven += outcome.status == SolveStatus::optimal ? 1 : 0;
    nodes += outcome.nodes;
  }
  fmt::print(
      "## Proofs\n\nOf {} dense problems of up to {} items, those whose optimum is above every other bound; {} nodes "
      "per problem.\n\n",
      kProblems, kItems, kNodes);
  Table table({"problems", "proven optimal", "nodes in total"});
  table.add({std::to_string(hard), std::to_string(proven), std::to_string(nodes)});
  table.print();
  return {};
}

}  // namespace stowage::bench
