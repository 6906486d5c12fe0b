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

/// These rules ensure that what comes before something else also ends before that begins in the linear order.
Status check_row(const StreamOrder& order, std::size_t row, Interval life, std::size_t index) {
  const auto least = [&](const std::vector<Step>& table) {
    const std::span<const Step> cells = std::span(table).subspan(row * order.streams, order.streams);
    return *std::min_element(cells.begin(), cells.end());
  };
  if (least(order.first) > life.lower) return fault(index, "lives before its first step on any stream");
  if (least(order.first) < life.lower) return fault(index, "has a first step on a stream before its life begins");
  if (least(order.threshold) < life.upper) return fault(index, "has a threshold on a stream before its life ends");
  return Done{};
}

/// Whether the row of an item covers that of one of its pieces.
bool covers(const StreamOrder& order, std::size_t item, std::size_t piece) {
  for (std::size_t s = 0; s < order.streams; ++s) {
    if (order.threshold[piece * order.streams + s] > order.threshold[item * order.streams + s]) return false;
    if (order.first[piece * order.streams + s] < order.first[item * order.streams + s]) return false;
  }
  return true;
}

Status check_order(const Problem& problem, std::size_t index) {
  const Item& item = problem.items[index];
  STOWAGE_TRY_STATUS(check_row(problem.order, index, item.life(), index));
  for (const Piece& piece : item.pieces) {
    if (piece.row == Piece::kOwnRow) continue;
    if (piece.row < problem.items.size() || piece.row >= problem.order.rows())
      return fault(index, "has a piece with a row that does not exist or is that of an item");
    STOWAGE_TRY_STATUS(check_row(problem.order, piece.row, piece.when, index));
    if (!covers(problem.order, index, piece.row)) return fault(index, "has a piece that its own row does not cover");
  }
  return Done{};
}

/// The row of a piece of an item.
std::size_t row_of(const Piece& piece, std::size_t item) { return piece.row == Piece::kOwnRow ? item : piece.row; }

/// Whether two pieces must not share bytes.
bool meet(const Problem& problem, std::size_t a, const Piece& p, std::size_t b, const Piece& q) {
  if (problem.order.empty()) return p.when.overlaps(q.when);
  const std::size_t first = row_of(p, a);
  const std::size_t second = row_of(q, b);
  return !problem.order.before(first, second) && !problem.order.before(second, first);
}

/// With a stream order: whether `later` takes the bytes over from `earlier`, or the two never meet.
bool takes_over(const Problem& problem, std::size_t a, const Piece& earlier, std::size_t b, const Piece& later) {
  const auto key = [](const Piece& piece) { return std::pair(piece.when.lower, piece.when.upper); };
  if (key(later) < key(earlier)) return takes_over(problem, b, later, a, earlier);
  if (!meet(problem, a, earlier, b, later)) return true;
  const StreamOrder& order = problem.order;
  const Step* const ends = &order.threshold[row_of(earlier, a) * order.streams];
  return std::equal(ends, ends + order.streams, &order.threshold[row_of(later, b) * order.streams],
                    [](Step x, Step y) { return x <= y; });
}

template <class Pair>
Status check_pairs(const Problem& problem, const std::vector<Pair>& pairs, std::string_view what) {
  const auto wrong = [&](std::size_t at, std::string_view how) {
    return Error{ErrorCode::invalid, fmt::format("{} {} {}", what, at, how), {}};
  };
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].a >= pairs[i].b || pairs[i].b >= problem.items.size())
      return wrong(i, "names items that do not exist or are not in ascending order");
    if (i > 0 && !(pairs[i - 1] < pairs[i])) return wrong(i, "is not above the one before it");
  }
  return Done{};
}

Status check_apart(const Problem& problem) {
  constexpr std::string_view kWhat = "pair of items to keep apart";
  STOWAGE_TRY_STATUS(check_pairs(problem, problem.apart, kWhat));
  for (std::size_t i = 0; i < problem.apart.size(); ++i) {
    const ApartPair& pair = problem.apart[i];
    for (const std::size_t item : {pair.a, pair.b}) {
      const ByteRange bytes = bytes_in(problem, pair, item);
      if (bytes.upper < bytes.lower || !ByteRange{Bytes(0), problem.items[item].size}.contains(bytes))
        return Error{ErrorCode::invalid, fmt::format("{} {} names bytes outside of its items", kWhat, i), {}};
    }
  }
  return Done{};
}

Status check_joins(const Problem& problem) {
  STOWAGE_TRY_STATUS(check_pairs(problem, problem.joins, "join"));
  for (std::size_t i = 0; i < problem.joins.size(); ++i) {
    const Join& join = problem.joins[i];
    if (join.distance > kMaxBytes || join.distance < Bytes(0) - kMaxBytes || !is_possible(problem, join))
      return Error{ErrorCode::invalid, fmt::format("join {} puts pieces together that cannot take over", i), {}};
  }
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

void StreamOrder::append_row(const StreamOrder& from, std::size_t row) {
  const auto cells = [&](const std::vector<Step>& table) {
    return std::span(table).subspan(row * from.streams, from.streams);
  };
  threshold.insert(threshold.end(), cells(from.threshold).begin(), cells(from.threshold).end());
  first.insert(first.end(), cells(from.first).begin(), cells(from.first).end());
}

bool StreamOrder::before(std::size_t row, std::size_t other) const {
  const Step* const after = &threshold[row * streams];
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
  const std::size_t known = problem.order.threshold.size();
  const bool whole = problem.order.empty() ? known == 0 : known >= cells && known % problem.order.streams == 0;
  if (!whole || problem.order.first.size() != known)
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
  STOWAGE_TRY_STATUS(check_apart(problem));
  return check_joins(problem);
}

ByteRange bytes_in(const Problem& problem, const ApartPair& pair, std::size_t item) {
  const std::optional<ByteRange>& bytes = item == pair.a ? pair.of_a : pair.of_b;
  return bytes.value_or(ByteRange{Bytes(0), problem.items[item].size});
}

bool are_too_close(const Problem& problem, std::uint32_t a, std::uint32_t b, Bytes distance) {
  const auto from = std::lower_bound(problem.apart.begin(), problem.apart.end(), ApartPair{a, b});
  for (auto pair = from; pair != problem.apart.end() && pair->a == a && pair->b == b; ++pair) {
    const ByteRange first = bytes_in(problem, *pair, a);
    const ByteRange second = bytes_in(problem, *pair, b);
    const ByteRange moved{second.lower + distance, second.upper + distance};
    if (!first.empty() && !second.empty() && first.overlaps(moved)) return true;
  }
  return false;
}

bool is_possible(const Problem& problem, const Join& join) {
  if (problem.order.empty()) return true;
  for (const Piece& p : problem.items[join.a].pieces) {
    for (const Piece& q : problem.items[join.b].pieces) {
      const bool together = p.bytes.overlaps({q.bytes.lower + join.distance, q.bytes.upper + join.distance});
      if (together && !takes_over(problem, join.a, p, join.b, q)) return false;
    }
  }
  return true;
}

bool in_conflict(const Problem& problem, std::size_t a, Position at_a, std::size_t b, Position at_b) {
  if (at_a.region != at_b.region) return false;
  if (a > b) return in_conflict(problem, b, at_b, a, at_a);
  const auto first = static_cast<std::uint32_t>(a);
  const auto second = static_cast<std::uint32_t>(b);
  const Item& item_a = problem.items[a];
  const Item& item_b = problem.items[b];
  const bool touch =
      ByteRange{at_a.offset, at_a.offset + item_a.size}.overlaps({at_b.offset, at_b.offset + item_b.size});
  if (!touch) return false;
  const Bytes distance = at_b.offset - at_a.offset;
  if (are_too_close(problem, first, second, distance)) return true;
  if (std::binary_search(problem.joins.begin(), problem.joins.end(), Join{first, second, distance})) return false;
  for (const Piece& p : item_a.pieces) {
    for (const Piece& q : item_b.pieces) {
      const ByteRange bytes_q{q.bytes.lower + distance, q.bytes.upper + distance};
      if (p.bytes.overlaps(bytes_q) && meet(problem, a, p, b, q)) return true;
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
