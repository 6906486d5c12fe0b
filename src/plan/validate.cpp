#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/interface/interval_map.hpp"
#include "stowage/plan.hpp"

/// One sweep over pieces in the order of their first steps. When a piece claims bytes, the last piece that claimed each
/// of them must be over, or joined with it; then both are claimants. "Is over before" is transitive, so checking the
/// last claimants of a byte is as good as checking all of them, and no list of pairs is needed. Items that must be kept
/// apart are compared pair by pair.
namespace stowage {
namespace {

struct Claim {
  std::size_t item;
  std::size_t row;  ///< With a stream order.
  Step until;       ///< Without one: the step at which its bytes become free.
};

/// Who uses some bytes.
struct Claimants {
  Claim last;
  std::vector<Claim> others = {};  ///< Those that are joined with a later one and may not be over yet.
};

/// A claim on bytes by a piece.
struct Event {
  Interval when;
  std::size_t item;
  std::size_t row;
  ByteRange bytes;
};

std::string show(const Problem& problem, std::size_t item, Position at) {
  return fmt::format("item {} at [{}, {}) of region {}", item, at.offset.value(),
                     (at.offset + problem.items[item].size).value(), at.region);
}

std::optional<Violation> check_place(const Problem& problem, std::size_t index, Position at) {
  using Kind = Violation::Kind;
  const Item& item = problem.items[index];
  const auto wrong = [&](Kind kind, std::string message) { return Violation{kind, index, 0, std::move(message)}; };
  if (at.region >= problem.regions.size())
    return wrong(Kind::region, fmt::format("item {} is in region {}, which does not exist", index, at.region));
  if (!item.may_lie_in(at.region))
    return wrong(Kind::region, fmt::format("item {} may not be in region {}", index, at.region));
  if (at.offset < Bytes(0) || at.offset > kMaxBytes)
    return wrong(Kind::offset,
                 fmt::format("item {} is at the offset {}, which is not from 0 to 2^62", index, at.offset.value()));
  if (!is_aligned(at.offset, item.alignment)) {
    return wrong(Kind::alignment, fmt::format("item {} is at {}, which is not a multiple of its alignment {}", index,
                                              at.offset.value(), item.alignment.value()));
  }
  if (item.pinned && at.offset != *item.pinned) {
    return wrong(Kind::pin,
                 fmt::format("item {} is at {}, but pinned at {}", index, at.offset.value(), item.pinned->value()));
  }
  const std::optional<Bytes> limit = problem.regions[at.region].limit;
  if (!limit || at.offset + item.size <= *limit) return std::nullopt;
  return wrong(Kind::offset,
               fmt::format("{} ends above the region's limit {}", show(problem, index, at), limit->value()));
}

Violation conflict(const Problem& problem, std::span<const Position> positions, std::size_t item, std::size_t other) {
  return {Violation::Kind::conflict, item, other,
          fmt::format("{} conflicts with {}", show(problem, item, positions[item]),
                      show(problem, other, positions[other]))};
}

class Sweep {
 public:
  Sweep(const Problem& problem, std::span<const Position> positions)
      : problem_(problem), positions_(positions), claims_(problem.regions.size()) {}

  /// Claims the bytes of the event. Returns a violation if another item still uses some of them.
  std::optional<Violation> claim(const Event& event) {
    const Position at = positions_[event.item];
    const ByteRange absolute{event.bytes.lower + at.offset, event.bytes.upper + at.offset};
    std::optional<std::size_t> clash;
    shared_.clear();
    claims_[at.region].visit(absolute, [&](ByteRange range, const Claimants& claimants) {
      const auto check = [&](const Claim& claim) {
        if (over(claim, event)) return;
        if (joined(claim.item, event.item)) {
          shared_.push_back({range, claim});
        } else {
          clash = claim.item;
        }
      };
      check(claimants.last);
      for (const Claim& other : claimants.others) check(other);
    });
    if (clash) return conflict(problem_, positions_, event.item, *clash);
    const Claim mine{event.item, event.row, event.when.upper};
    claims_[at.region].assign(absolute, {mine});
    // Ascending, with all claims on one range after each other.
    for (std::size_t s = 0; s < shared_.size();) {
      Claimants both{mine};
      const ByteRange range = shared_[s].range;
      for (; s < shared_.size() && shared_[s].range == range; ++s) both.others.push_back(shared_[s].claim);
      claims_[at.region].assign(range, std::move(both));
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool over(const Claim& last, const Event& event) const {
    if (last.item == event.item) return true;
    return problem_.order.empty() ? last.until <= event.when.lower : problem_.order.before(last.row, event.row);
  }

  [[nodiscard]] bool joined(std::size_t x, std::size_t y) const {
    if (problem_.joins.empty()) return false;
    const auto [a, b] = std::minmax(x, y);
    const Join join{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                    positions_[b].offset - positions_[a].offset};
    return std::binary_search(problem_.joins.begin(), problem_.joins.end(), join);
  }

  const Problem& problem_;
  std::span<const Position> positions_;
  std::vector<IntervalMap<Claimants>> claims_;
  struct Shared {
    ByteRange range;
    Claim claim;
  };
  std::vector<Shared> shared_;  ///< What the current claim shares by joins.
};

std::vector<Event> events_of(const Problem& problem) {
  std::vector<Event> events;
  events.reserve(problem.items.size());
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const Item& item = problem.items[i];
    for (const Piece& piece : item.pieces) {
      const bool own = piece.row == Piece::kOwnRow;
      // With a stream order, a piece without a row of its own lives as long as its item.
      const Interval when = own && !problem.order.empty() ? item.life() : piece.when;
      events.push_back({when, i, own ? i : piece.row, piece.bytes});
    }
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.when.lower != b.when.lower ? a.when.lower < b.when.lower : a.item < b.item;
  });
  return events;
}

std::optional<Violation> check_apart(const Problem& problem, std::span<const Position> positions) {
  for (const ApartPair& pair : problem.apart) {
    if (in_conflict(problem, pair.a, positions[pair.a], pair.b, positions[pair.b]))
      return conflict(problem, positions, pair.b, pair.a);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Violation> validate(const Problem& problem, std::span<const Position> positions) {
  if (positions.size() != problem.items.size()) {
    return Violation{Violation::Kind::count, 0, 0,
                     fmt::format("there are {} positions for {} items", positions.size(), problem.items.size())};
  }
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (auto wrong = check_place(problem, i, positions[i])) return wrong;
  }
  Sweep sweep(problem, positions);
  for (const Event& event : events_of(problem)) {
    if (auto wrong = sweep.claim(event)) return wrong;
  }
  return check_apart(problem, positions);
}

}  // namespace stowage
