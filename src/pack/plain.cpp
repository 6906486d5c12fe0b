#include "pack/plain.hpp"

#include <algorithm>

namespace stowage::pack {
namespace {

/// A begin or an end; at equal steps ends come first.
struct LifeEvent {
  Step step;
  bool begins;
  std::uint32_t item;
  friend bool operator<(const LifeEvent& a, const LifeEvent& b) {
    if (a.step != b.step) return a.step < b.step;
    return a.begins != b.begins ? b.begins : a.item < b.item;
  }
};

/// Walks through the events. A section closes at the first end after a begin, because nothing that begins later can
/// meet everything that is live then.
void find_sections(std::vector<LifeEvent>& events, Plain& plain) {
  std::sort(events.begin(), events.end());
  std::int64_t live = 0;
  bool grown = false;
  for (const LifeEvent& event : events) {
    if (event.begins) {
      plain.first[event.item] = plain.sections();
      live += plain.size[event.item];
      grown = true;
      continue;
    }
    if (grown) plain.total.push_back(live);
    grown = false;
    plain.last[event.item] = plain.sections();
    live -= plain.size[event.item];
  }
}

}  // namespace

bool is_plain(const Item& item) {
  return item.pieces.size() == 1 && !item.pinned && item.pieces.front().bytes == ByteRange{Bytes(0), item.size};
}

bool is_plain(const Problem& problem) {
  if (problem.regions.size() != 1 || problem.regions.front().limit || !problem.regions.front().paid ||
      !problem.order.empty() || !problem.joins.empty() || !problem.apart.empty())
    return false;
  return std::all_of(problem.items.begin(), problem.items.end(), [](const Item& item) { return is_plain(item); });
}

std::optional<Plain> Plain::from(const Problem& problem) {
  if (!is_plain(problem)) return std::nullopt;
  Plain plain;
  std::vector<LifeEvent> events;
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const Item& item = problem.items[i];
    if (item.size == Bytes(0)) continue;
    const Interval when = item.pieces.front().when;
    events.push_back({when.lower, true, plain.count()});
    events.push_back({when.upper, false, plain.count()});
    plain.item.push_back(i);
    plain.size.push_back(item.size.value());
    plain.alignment.push_back(item.alignment.value());
    plain.steps.push_back(when.length().value());
  }
  plain.first.resize(plain.count());
  plain.last.resize(plain.count());
  find_sections(events, plain);
  for (const std::int64_t total : plain.total) plain.bound = std::max(plain.bound, total);
  return plain;
}

std::vector<Position> Plain::positions(const Problem& problem, std::span<const std::int64_t> offsets) const {
  std::vector<Position> result(problem.items.size());
  for (std::size_t i = 0; i < item.size(); ++i) result[item[i]].offset = Bytes(offsets[i]);
  return result;
}

}  // namespace stowage::pack
