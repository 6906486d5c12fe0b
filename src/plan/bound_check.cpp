#include <algorithm>

#include "base/interface/interval_map.hpp"
#include "plan/interface/join_savings.hpp"
#include "plan/interface/offset_check.hpp"
#include "stowage/plan.hpp"

namespace stowage {
namespace {

/// The bytes that `item` occupies at `step`.
std::vector<ByteRange> occupied(const Item& item, Step step) {
  std::vector<ByteRange> ranges;
  for (const Piece& piece : item.pieces) {
    if (piece.when.contains(step) && !piece.bytes.empty()) ranges.push_back(piece.bytes);
  }
  return ranges;
}

bool evades(const Problem& problem, const Item& item) {
  bool evades = false;
  for (std::size_t r = 0; r < problem.regions.size(); ++r) evades |= !problem.regions[r].paid && item.may_lie_in(r);
  return evades;
}

/// The bytes that must be in paid regions at `step`: those of the items that are not allowed in unpaid regions, and as
/// much of the rest as does not fit in the unpaid regions; less what joins can save.
Bytes paid_at(const Problem& problem, Step step) {
  Bytes must_pay;
  Bytes may_evade;
  for (const Item& item : problem.items) {
    for (const ByteRange& range : occupied(item, step))
      (evades(problem, item) ? may_evade : must_pay) += range.length();
  }
  for (const Region& region : problem.regions) {
    if (!region.paid) may_evade = region.limit ? std::max(Bytes(0), may_evade - *region.limit) : Bytes(0);
  }
  const Bytes saved = plan::most_saved(problem, plan::shared_by_joins_at(problem, step));
  return std::max(Bytes(0), must_pay + may_evade - saved);
}

/// By item: whether an item that begins earlier is joined with it and shares a step with it that is `step`. Such items
/// are left out, so that no two of the others may share bytes.
std::vector<char> joined_at(const Problem& problem, Step step) {
  std::vector<char> joined(problem.items.size(), 0);
  for (const plan::SharedByJoin& shared : plan::shared_by_joins_at(problem, step)) joined[shared.later] = 1;
  return joined;
}

/// Bytes that start at a multiple of `a` occupy a multiple of `a`, except that the topmost of each paid region need not
/// be rounded up.
Bytes aligned_bytes_at(const Problem& problem, Step step, Bytes a) {
  Bytes sum;
  std::vector<Bytes> savings;
  const std::vector<char> joined = joined_at(problem, step);
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const Item& item = problem.items[i];
    if (item.alignment < a || evades(problem, item) || joined[i] != 0) continue;
    for (const ByteRange& range : occupied(item, step)) {
      if (!is_aligned(range.lower, a)) continue;
      sum += align_up(range.length(), a);
      savings.push_back(align_up(range.length(), a) - range.length());
    }
  }
  std::sort(savings.rbegin(), savings.rend());
  const auto paid =
      std::count_if(problem.regions.begin(), problem.regions.end(), [](const Region& r) { return r.paid; });
  for (std::size_t i = 0; i < std::min(savings.size(), static_cast<std::size_t>(paid)); ++i) sum -= savings[i];
  return sum;
}

/// The unpinned ranges that `needs_for_pins` looks at.
struct Demand {
  Bytes least;      ///< Each has at least this many bytes.
  Bytes bytes;      ///< Their sum.
  Bytes alignment;  ///< The smallest of their alignments.
};

/// Whether there is room below `height`, between the pinned ranges, for the demand. A gap counts from its first aligned
/// address, and only if the smallest range fits in it.
bool fits_below(Bytes height, const Demand& demand, const std::vector<ByteRange>& pinned) {
  Bytes room;
  Bytes begin;
  const auto add_gap = [&](Bytes end) {
    const Bytes length = std::min(end, height) - align_up(begin, demand.alignment);
    if (length >= demand.least) room += length;
  };
  for (const ByteRange& range : pinned) {
    add_gap(range.lower);
    begin = std::max(begin, range.upper);
  }
  add_gap(height);
  return room >= demand.bytes;
}

/// The alignment that `range` of the item always has: the largest power of two, up to the item's alignment, of which
/// its start is always a multiple.
Bytes alignment_of(const Item& item, const ByteRange& range) {
  const std::int64_t low_bit = range.lower.value() & -range.lower.value();
  return low_bit == 0 ? item.alignment : std::min(item.alignment, Bytes(low_bit));
}

/// Whether the ranges at `step` that are at least as large as the smallest range of `like` need a peak of at least
/// `bytes` because of the pinned items.
bool needs_for_pins(const Problem& problem, Step step, const Item& like, Bytes bytes) {
  if (problem.regions.size() != 1 || !problem.regions.front().paid || like.pinned) return false;
  Demand demand{kMaxBytes, Bytes(0), kMaxBytes};
  for (const ByteRange& range : occupied(like, step)) demand.least = std::min(demand.least, range.length());
  std::vector<ByteRange> pinned;
  const std::vector<char> joined = joined_at(problem, step);
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const Item& item = problem.items[i];
    if (joined[i] != 0) continue;
    for (const ByteRange& range : occupied(item, step)) {
      if (item.pinned) pinned.push_back({*item.pinned + range.lower, *item.pinned + range.upper});
      if (item.pinned || range.length() < demand.least) continue;
      demand.bytes += range.length();
      demand.alignment = std::min(demand.alignment, alignment_of(item, range));
    }
  }
  std::sort(pinned.begin(), pinned.end());
  return demand.bytes > Bytes(0) && !fits_below(bytes - Bytes(1), demand, pinned);
}

/// The bytes of an item that some piece of it occupies.
Bytes touched_bytes(const Item& item) {
  IntervalMap<char> touched;
  for (const Piece& piece : item.pieces) touched.assign(piece.bytes, 1);
  Bytes sum;
  touched.visit({Bytes(0), item.size}, [&](ByteRange range, char) { sum += range.length(); });
  return sum;
}

/// Whether no piece of one item comes before a piece of the other, and the two are not joined.
bool unordered(const Problem& problem, std::size_t a, std::size_t b) {
  if (!plan::joins_between(problem, a, b).empty()) return false;
  const auto row = [](const Piece& piece, std::size_t item) { return piece.row == Piece::kOwnRow ? item : piece.row; };
  for (const Piece& p : problem.items[a].pieces) {
    for (const Piece& q : problem.items[b].pieces) {
      if (problem.order.before(row(p, a), row(q, b)) || problem.order.before(row(q, b), row(p, a))) return false;
    }
  }
  return true;
}

/// The total of the bytes that `items` occupy; 0 unless they are in ascending order without duplicates, are all allowed
/// in paid regions only, and all unordered.
Bytes unordered_bytes(const Problem& problem, const std::vector<std::size_t>& items) {
  if (problem.order.empty()) return Bytes(0);
  Bytes sum;
  for (std::size_t a = 0; a < items.size(); ++a) {
    if (items[a] >= problem.items.size() || evades(problem, problem.items[items[a]])) return Bytes(0);
    for (std::size_t b = 0; b < a; ++b) {
      if (items[b] >= items[a] || !unordered(problem, items[a], items[b])) return Bytes(0);
    }
    sum += touched_bytes(problem.items[items[a]]);
  }
  return sum;
}

bool pinned_to_paid_region(const Problem& problem, const Item& item) {
  if (!item.pinned) return false;
  for (std::size_t r = 0; r < problem.regions.size(); ++r) {
    if (item.may_lie_in(r) && !problem.regions[r].paid) return false;
  }
  return true;
}

}  // namespace

bool check_bound(const Problem& problem, const Certificate& certificate) {
  const bool names_item = certificate.item < problem.items.size();
  switch (certificate.argument) {
    case Certificate::Argument::offset_sums:
      return plan::check_offset_sums(problem, certificate);
    case Certificate::Argument::unordered_items:
      return certificate.bytes <= unordered_bytes(problem, certificate.items);
    case Certificate::Argument::exhausted_search:
      return false;
    case Certificate::Argument::trivial:
      return certificate.bytes <= Bytes(0);
    case Certificate::Argument::live_bytes:
      return certificate.bytes <= paid_at(problem, certificate.step);
    case Certificate::Argument::aligned_offsets:
      return names_item && certificate.bytes <=
                               aligned_bytes_at(problem, certificate.step, problem.items[certificate.item].alignment);
    case Certificate::Argument::pinned_gaps:
      return names_item &&
             needs_for_pins(problem, certificate.step, problem.items[certificate.item], certificate.bytes);
    case Certificate::Argument::pinned_item: {
      if (!names_item) return false;
      const Item& item = problem.items[certificate.item];
      return pinned_to_paid_region(problem, item) && item.size > Bytes(0) &&
             certificate.bytes <= *item.pinned + item.size;
    }
  }
  return false;
}

}  // namespace stowage
