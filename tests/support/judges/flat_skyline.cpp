#include "support/judges/flat_skyline.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "pack/rounding.hpp"

namespace stowage::testing {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

FlatSkyline::FlatSkyline(const pack::Plain& plain) : plain_(plain), row_begin_(plain.sections() + 1) {
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    for (std::uint32_t s = plain.first[i]; s < plain.last[i]; ++s) ++row_begin_[s + 1];
  }
  std::partial_sum(row_begin_.begin(), row_begin_.end(), row_begin_.begin());
  rows_.resize(row_begin_.back());
}

void FlatSkyline::reset(std::span<const double> priority) {
  const std::uint32_t sections = plain_.sections();
  std::vector<std::uint32_t> order(plain_.count());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return priority[a] != priority[b] ? priority[a] > priority[b] : a < b;
  });
  row_length_.assign(sections, 0);
  for (const std::uint32_t i : order) {
    for (std::uint32_t s = plain_.first[i]; s < plain_.last[i]; ++s) rows_[row_begin_[s] + row_length_[s]++] = i;
  }
  remaining_ = plain_.total;
  exhausted_.assign(sections, -1);
  placed_.assign(plain_.count(), 0);
  level_.assign(sections, -1);
  end_.assign(sections, 0);
  previous_.assign(sections + 1, kNone);
  heap_.clear();
}

/// Makes [begin, end) a valley. Whoever calls sees to it that its neighbours fit.
void FlatSkyline::open(std::uint32_t begin, std::uint32_t end, std::int64_t level) {
  level_[begin] = level;
  end_[begin] = end;
  previous_[end] = begin;
  heap_.push_back({level, begin});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

std::uint32_t FlatSkyline::lowest_valley() {
  while (level_[heap_.front().begin] != heap_.front().level) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
  return heap_.front().begin;
}

std::uint32_t FlatSkyline::most_urgent(std::uint32_t begin, std::uint32_t end, std::int64_t level) const {
  std::uint32_t best = kNone;
  std::int64_t most = 0;
  for (std::uint32_t s = begin; s < end; ++s) {
    if (remaining_[s] <= most || exhausted_[s] == level) continue;
    most = remaining_[s];
    best = s;
  }
  return best;
}

std::uint32_t FlatSkyline::first_fitting(std::uint32_t section, std::uint32_t begin, std::uint32_t end) {
  std::uint32_t* const row = rows_.data() + row_begin_[section];
  const std::uint32_t length = row_length_[section];
  std::uint32_t kept = 0;
  std::uint32_t at = 0;
  std::uint32_t found = kNone;
  for (; at < length && found == kNone; ++at) {
    const std::uint32_t i = row[at];
    if (placed_[i]) continue;
    row[kept++] = i;
    if (plain_.first[i] >= begin && plain_.last[i] <= end) found = i;
  }
  if (kept != at) {
    row_length_[section] = static_cast<std::uint32_t>(std::copy(row + at, row + length, row + kept) - row);
  }
  return found;
}

std::uint32_t FlatSkyline::choose_item(std::uint32_t begin, std::uint32_t end, std::int64_t level) {
  for (std::uint32_t s = most_urgent(begin, end, level); s != kNone; s = most_urgent(begin, end, level)) {
    const std::uint32_t item = first_fitting(s, begin, end);
    if (item != kNone) return item;
    exhausted_[s] = level;
  }
  return kNone;
}

/// Lifts the valley to its lower neighbour and joins it.
void FlatSkyline::raise(std::uint32_t begin) {
  std::uint32_t end = end_[begin];
  const std::uint32_t left = previous_[begin];
  const std::int64_t level_left = begin == 0 ? std::numeric_limits<std::int64_t>::max() : level_[left];
  const std::int64_t level_right = end == plain_.sections() ? std::numeric_limits<std::int64_t>::max() : level_[end];
  const std::int64_t level = std::min(level_left, level_right);
  level_[begin] = -1;
  if (level_right == level) {
    const std::uint32_t next = end_[end];
    level_[end] = -1;
    end = next;
  }
  if (level_left == level) {
    end_[left] = end;
    previous_[end] = left;
  } else {
    open(begin, end, level);
  }
}

/// Sets [first, last) of the valley at `begin` to `level`; what remains of the valley on both sides keeps its floor.
void FlatSkyline::set_level(std::uint32_t begin, std::uint32_t first, std::uint32_t last, std::int64_t level) {
  const std::int64_t floor = level_[begin];
  const std::uint32_t end = end_[begin];
  const std::uint32_t left = previous_[begin];
  if (first > begin) {
    end_[begin] = first;
    previous_[first] = begin;
  } else {
    level_[begin] = -1;
  }
  std::uint32_t to = last;
  if (last < end) {
    open(last, end, floor);
  } else if (end < plain_.sections() && level_[end] == level) {
    to = end_[end];
    level_[end] = -1;
  }
  if (first == begin && begin > 0 && level_[left] == level) {
    end_[left] = to;
    previous_[to] = left;
  } else {
    open(first, to, level);
  }
}

std::int64_t FlatSkyline::run(std::span<const double> priority, std::int64_t limit,
                              std::vector<std::int64_t>& offsets) {
  offsets.assign(plain_.count(), 0);
  if (plain_.count() == 0) return 0;
  reset(priority);
  open(0, plain_.sections(), 0);
  std::int64_t peak = 0;
  for (std::uint32_t left = plain_.count(); left > 0;) {
    const std::uint32_t begin = lowest_valley();
    const std::uint32_t item = choose_item(begin, end_[begin], level_[begin]);
    if (item == kNone) {
      raise(begin);
      continue;
    }
    offsets[item] = pack::round_up(level_[begin], plain_.alignment[item]);
    const std::int64_t top = offsets[item] + plain_.size[item];
    peak = std::max(peak, top);
    if (peak > limit) return peak;
    placed_[item] = 1;
    --left;
    for (std::uint32_t s = plain_.first[item]; s < plain_.last[item]; ++s) remaining_[s] -= plain_.size[item];
    set_level(begin, plain_.first[item], plain_.last[item], top);
  }
  return peak;
}

}  // namespace stowage::testing
