#include "pack/improve/plain_packing.hpp"

#include <algorithm>

namespace stowage::pack {
namespace {

/// An axis with every step may be at most this many times as long as there are items.
constexpr std::int64_t kDense = 4;

std::vector<Step> axis_of(const Problem& problem) {
  std::vector<Step> steps;
  for (const Item& item : problem.items) {
    steps.push_back(item.pieces.front().when.lower);
    steps.push_back(item.pieces.front().when.upper);
  }
  if (steps.empty()) return {Step(0)};
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  const std::int64_t most = kDense * static_cast<std::int64_t>(problem.items.size());
  // As unsigned numbers, because the difference of two steps may exceed the signed range.
  const std::uint64_t range =
      static_cast<std::uint64_t>(steps.back().value()) - static_cast<std::uint64_t>(steps.front().value());
  if (range > static_cast<std::uint64_t>(most)) return steps;
  std::vector<Step> all;
  for (std::uint64_t k = 0; k <= range; ++k) all.push_back(steps.front() + Step(static_cast<std::int64_t>(k)));
  return all;
}

}  // namespace

PlainPacking::PlainPacking(const Problem& problem, std::span<const std::size_t> kept, std::uint64_t seed)
    : axis_(axis_of(problem)), search_(static_cast<std::uint32_t>(axis_.size()), boxes_of(problem, kept), seed) {
  std::vector<std::int64_t> live(axis_.size());
  for (std::uint32_t i = 0; i < problem.items.size(); ++i) {
    live[search_.box(i).when.lower] += search_.box(i).size;
    live[search_.box(i).when.upper] -= search_.box(i).size;
  }
  for (std::size_t t = 1; t < live.size(); ++t) live[t] += live[t - 1];
  live_.reset(live);
}

bool PlainPacking::covers(Interval life) const {
  return std::binary_search(axis_.begin(), axis_.end(), life.lower) &&
         std::binary_search(axis_.begin(), axis_.end(), life.upper);
}

std::uint32_t PlainPacking::place_of(Step step) const {
  return static_cast<std::uint32_t>(std::lower_bound(axis_.begin(), axis_.end(), step) - axis_.begin());
}

EjectionSearch::Box PlainPacking::box_of(const Item& item) const {
  const Interval when = item.pieces.front().when;
  return {{place_of(when.lower), place_of(when.upper)},
          item.size.value(),
          item.alignment.value(),
          static_cast<double>(item.size.value()),
          false};
}

std::vector<EjectionSearch::Box> PlainPacking::boxes_of(const Problem& problem,
                                                        std::span<const std::size_t> kept) const {
  std::vector<EjectionSearch::Box> boxes;
  boxes.reserve(problem.items.size());
  for (const Item& item : problem.items) boxes.push_back(box_of(item));
  for (const std::size_t item : kept) boxes[item].kept = true;
  return boxes;
}

void PlainPacking::reshape(std::size_t index, const Item& item) {
  const auto i = static_cast<std::uint32_t>(index);
  const EjectionSearch::Box before = search_.box(i);
  EjectionSearch::Box after = box_of(item);
  after.kept = before.kept;
  live_.add(before.when.lower, before.when.upper, -before.size);
  live_.add(after.when.lower, after.when.upper, after.size);
  search_.reshape(i, after);
}

Certificate PlainPacking::bound() const {
  const MaxSegmentTree::Maximum most = live_.maximum(0, static_cast<std::uint32_t>(axis_.size()));
  if (most.value == 0) return {};
  return {Certificate::Argument::live_bytes, Bytes(most.value), axis_[most.index], 0};
}

}  // namespace stowage::pack
