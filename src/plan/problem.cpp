#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/interface/interval_map.hpp"
#include "stowage/plan.hpp"

namespace stowage {
namespace {

Error fault(std::size_t item, std::string_view what) {
  return Error{ErrorCode::invalid,
               fmt::format("item {} {}", item, what),
               {.file = {}, .line = {}, .path = fmt::format("items[{}]", item)}};
}

bool pieces_overlap(std::vector<Piece> pieces) {
  std::sort(pieces.begin(), pieces.end());
  IntervalMap<Step> busy_until;
  for (const Piece& piece : pieces) {
    bool overlap = false;
    busy_until.visit(piece.bytes, [&](ByteRange, Step until) { overlap |= until > piece.when.lower; });
    if (overlap) return true;
    busy_until.assign(piece.bytes, piece.when.upper);
  }
  return false;
}

Status check_pieces(const Item& item, std::size_t index) {
  if (item.pieces.empty()) return fault(index, "has no piece");
  for (const Piece& piece : item.pieces) {
    if (piece.when.empty()) return fault(index, "has a piece without a step");
    if (piece.when.lower <= Step(0) - kMaxStep || piece.when.upper > kMaxStep)
      return fault(index, "has a piece beyond the limit of 2^62 steps");
    if (piece.bytes.upper < piece.bytes.lower || !ByteRange{Bytes(0), item.size}.contains(piece.bytes)) {
      return fault(index, "has a piece outside its size");
    }
  }
  if (item.pieces.size() > 1 && pieces_overlap(item.pieces)) return fault(index, "has pieces that overlap");
  return Done{};
}

/// These rules ensure that an item that comes before another also ends before the other begins in the linear order.
Status check_order(const Problem& problem, std::size_t index) {
  const StreamOrder& order = problem.order;
  const auto least = [&](const std::vector<Step>& table) {
    const std::span<const Step> row = std::span(table).subspan(index * order.streams, order.streams);
    return *std::min_element(row.begin(), row.end());
  };
  const Interval life = problem.items[index].life();
  if (least(order.first) > life.lower) return fault(index, "lives before its first step on any stream");
  if (least(order.first) < life.lower) return fault(index, "has a first step on a stream before its life begins");
  if (least(order.threshold) < life.upper) return fault(index, "has a threshold on a stream before its life ends");
  return Done{};
}

}  // namespace

bool Item::may_lie_in(std::size_t region) const {
  return allowed.empty() || std::binary_search(allowed.begin(), allowed.end(), static_cast<std::uint32_t>(region));
}

Interval Item::life() const {
  Interval life = pieces.front().when;
  for (const Piece& piece : pieces) {
    life.lower = std::min(life.lower, piece.when.lower);
    life.upper = std::max(life.upper, piece.when.upper);
  }
  return life;
}

void StreamOrder::append_row(const StreamOrder& from, std::size_t item) {
  const auto row = [&](const std::vector<Step>& table) {
    return std::span(table).subspan(item * from.streams, from.streams);
  };
  threshold.insert(threshold.end(), row(from.threshold).begin(), row(from.threshold).end());
  first.insert(first.end(), row(from.first).begin(), row(from.first).end());
}

bool StreamOrder::before(std::size_t item, std::size_t other) const {
  const Step* const after = &threshold[item * streams];
  const Step* const begins = &first[other * streams];
  for (std::size_t stream = 0; stream < streams; ++stream) {
    // On a stream that `other` does not use, begins is kNever, which is not before any threshold.
    if (begins[stream] < after[stream]) return false;
  }
  return true;
}

Status check_item(const Problem& problem, std::size_t index) {
  const Item& item = problem.items[index];
  if (item.size < Bytes(0) || item.size > kMaxBytes)
    return fault(index, fmt::format("has the size {}, which is not from 0 to 2^62", item.size.value()));
  if (!is_power_of_two(item.alignment))
    return fault(index, fmt::format("has the alignment {}, which is not a power of two", item.alignment.value()));
  if (item.pinned && (*item.pinned < Bytes(0) || *item.pinned > kMaxBytes)) {
    return fault(index, fmt::format("is pinned at {}, which is not from 0 to 2^62", item.pinned->value()));
  }
  const std::vector<std::uint32_t>& only = item.allowed;
  if (!std::is_sorted(only.begin(), only.end()) || (!only.empty() && only.back() >= problem.regions.size())) {
    return fault(index, "is allowed in regions that do not exist or are not in ascending order");
  }
  if (item.pinned && only.size() != 1 && problem.regions.size() != 1)
    return fault(index, "is pinned but allowed in more than one region");
  STOWAGE_TRY_STATUS(check_pieces(item, index));
  return problem.order.empty() ? Status(Done{}) : check_order(problem, index);
}

Status check_problem(const Problem& problem) {
  if (problem.regions.empty()) return Error{ErrorCode::invalid, "the problem has no region", {}};
  for (const Region& region : problem.regions) {
    if (region.limit && (*region.limit < Bytes(0) || *region.limit > kMaxBytes)) {
      return Error{ErrorCode::invalid,
                   fmt::format("a region has the limit {}, which is not from 0 to 2^62", region.limit->value()),
                   {}};
    }
  }
  if (problem.capacity && *problem.capacity < Bytes(0))
    return Error{ErrorCode::invalid, "the capacity is negative", {}};
  if (problem.capacity && *problem.capacity > kMaxBytes)
    return Error{ErrorCode::invalid, "the capacity is above the limit", {}};
  const std::size_t cells = problem.items.size() * problem.order.streams;
  if (problem.order.threshold.size() != cells || problem.order.first.size() != cells)
    return Error{ErrorCode::invalid, "the stream order's tables do not have one row per item", {}};
  // No solver places anything above the highest pin plus all items stacked on top of each other, so no sum of offsets
  // and sizes can overflow.
  Bytes highest_pin;
  Bytes total;
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    STOWAGE_TRY_STATUS(check_item(problem, i));
    const Item& item = problem.items[i];
    highest_pin = std::max(highest_pin, item.pinned.value_or(Bytes(0)));
    const std::optional<Bytes> padded = add_within_limit(item.size, item.alignment);
    const std::optional<Bytes> sum = padded ? add_within_limit(total, *padded) : std::nullopt;
    if (!sum || !add_within_limit(highest_pin, *sum))
      return fault(i, "takes the sum of sizes and pins above the limit of 2^62 bytes");
    total = *sum;
  }
  return Done{};
}

bool in_conflict(const Problem& problem, std::size_t a, Position at_a, std::size_t b, Position at_b) {
  if (at_a.region != at_b.region) return false;
  const Item& first = problem.items[a];
  const Item& second = problem.items[b];
  if (!problem.order.empty()) {
    const ByteRange bytes_a{at_a.offset, at_a.offset + first.size};
    return bytes_a.overlaps({at_b.offset, at_b.offset + second.size}) && !problem.order.before(a, b) &&
           !problem.order.before(b, a);
  }
  for (const Piece& p : first.pieces) {
    for (const Piece& q : second.pieces) {
      const ByteRange bytes_p{p.bytes.lower + at_a.offset, p.bytes.upper + at_a.offset};
      if (p.when.overlaps(q.when) && bytes_p.overlaps({q.bytes.lower + at_b.offset, q.bytes.upper + at_b.offset}))
        return true;
    }
  }
  return false;
}

std::vector<Bytes> tops_of(const Problem& problem, std::span<const Position> positions) {
  std::vector<Bytes> tops(problem.regions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    Bytes& top = tops[positions[i].region];
    if (problem.items[i].size > Bytes(0)) top = std::max(top, positions[i].offset + problem.items[i].size);
  }
  return tops;
}

Bytes peak_of(const Problem& problem, std::span<const Position> positions) {
  const std::vector<Bytes> tops = tops_of(problem, positions);
  Bytes peak;
  for (std::size_t r = 0; r < tops.size(); ++r) {
    if (problem.regions[r].paid) peak += tops[r];
  }
  return peak;
}

}  // namespace stowage
