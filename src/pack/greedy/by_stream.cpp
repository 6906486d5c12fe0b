#include "pack/greedy/by_stream.hpp"

#include <algorithm>
#include <utility>

#include "pack/greedy/ordered_walk.hpp"
#include "pack/greedy/skyline.hpp"

/// Gives the items of each stream a separate range, and stacks the ranges.
///
/// Items whose first access is on the same stream form a plain problem: one of them comes before another iff it is over
/// on that stream when the other begins, provided that each is first touched by one op, before all other ops that touch
/// it. The skyline packs such a problem near its bound in O(n log n). Streams share nothing with each other. In return,
/// no byte is taken by a stream by accident and lost to the others; that makes greedy placement need several times as
/// much memory on graphs with many, mostly independent streams (bench/README.md, "streams").
namespace stowage::pack {
namespace {

/// The stream of the item's first access. An item that begins on several streams (an input) belongs to the one where it
/// is over first.
std::size_t home_of(const StreamOrder& order, std::size_t item) {
  std::size_t home = 0;
  const auto key = [&](std::size_t stream) {
    const std::size_t cell = item * order.streams + stream;
    return std::pair(order.first[cell], order.threshold[cell]);
  };
  for (std::size_t s = 1; s < order.streams; ++s) home = key(s) < key(home) ? s : home;
  return home;
}

/// One past the last step that occurs in the problem.
Step horizon_of(const Problem& problem) {
  Step horizon(1);
  for (const Step step : problem.order.threshold)
    horizon = step == kNever ? horizon : std::max(horizon, step + Step(1));
  for (const Step step : problem.order.first) horizon = step == kNever ? horizon : std::max(horizon, step + Step(1));
  for (const Item& item : problem.items) horizon = std::max(horizon, item.life().upper + Step(1));
  return horizon;
}

/// The items of one stream, with their lives on that stream.
struct Strand {
  std::vector<std::size_t> items;
  Problem problem;
};

std::vector<Strand> strands_of(const Problem& problem) {
  const Step horizon = horizon_of(problem);
  std::vector<Strand> strands(problem.order.streams);
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const std::size_t home = home_of(problem.order, i);
    const std::size_t cell = i * problem.order.streams + home;
    const Interval when{problem.order.first[cell], std::min(problem.order.threshold[cell], horizon)};
    const Item& item = problem.items[i];
    strands[home].items.push_back(i);
    strands[home].problem.items.push_back(
        {.pieces = {{when, {Bytes(0), item.size}}}, .size = item.size, .alignment = item.alignment});
  }
  return strands;
}

}  // namespace

void solve_by_stream(Bench& bench) {
  const Problem& problem = bench.problem();
  if (!can_walk_ordered(problem)) return;
  std::vector<Position> positions(problem.items.size());
  SolveOptions options = bench.options();
  options.on_better = {};
  Bytes top;
  for (const Strand& strand : strands_of(problem)) {
    Bench alone(strand.problem, options, lower_bound(strand.problem));
    solve_skyline(alone);
    if (alone.positions().empty() && !strand.items.empty()) return;
    Bytes alignment(1);
    for (const Item& item : strand.problem.items) alignment = std::max(alignment, item.alignment);
    top = align_up(top, alignment);
    for (std::size_t k = 0; k < strand.items.size(); ++k)
      positions[strand.items[k]].offset = top + alone.positions()[k].offset;
    top += strand.items.empty() ? Bytes(0) : alone.peak();
  }
  // An item that several ops begin on several streams may be over on one stream and not on another.
  if (!validate(problem, positions)) bench.offer(std::move(positions), "by_stream");
}

}  // namespace stowage::pack
