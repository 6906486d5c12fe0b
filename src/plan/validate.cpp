#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/interface/interval_map.hpp"
#include "stowage/plan.hpp"

/// One sweep over pieces in the order of their first steps. When a piece claims bytes, the last item that claimed each
/// of them must be over. "Is over before" is transitive, so checking the last claimant of a byte is as good as checking
/// all of them, and no list of pairs is needed.
namespace stowage {
namespace {

struct Claim {
  std::size_t item;
  Step until;  ///< Without a stream order: the step at which its bytes become free.
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

class Sweep {
 public:
  Sweep(const Problem& problem, std::span<const Position> positions)
      : problem_(problem), positions_(positions), claims_(problem.regions.size()) {}

  /// Claims `bytes` for `item` during `when`. Returns a violation if another item still uses some of them.
  std::optional<Violation> claim(std::size_t item, Interval when, ByteRange bytes) {
    const Position at = positions_[item];
    const ByteRange absolute{bytes.lower + at.offset, bytes.upper + at.offset};
    std::optional<std::size_t> clash;
    claims_[at.region].visit(absolute, [&](ByteRange, const Claim& last) {
      if (!over(last, item, when.lower)) clash = last.item;
    });
    if (clash) {
      const std::string message =
          fmt::format("{} conflicts with {}", show(problem_, item, at), show(problem_, *clash, positions_[*clash]));
      return Violation{Violation::Kind::conflict, item, *clash, message};
    }
    claims_[at.region].assign(absolute, {item, when.upper});
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool over(const Claim& last, std::size_t item, Step begin) const {
    if (last.item == item) return true;
    return problem_.order.empty() ? last.until <= begin : problem_.order.before(last.item, item);
  }

  const Problem& problem_;
  std::span<const Position> positions_;
  std::vector<IntervalMap<Claim>> claims_;
};

struct Event {
  Interval when;
  std::size_t item;
  ByteRange bytes;
};

/// The claims on bytes: every piece, or, with a stream order, every item as a whole.
std::vector<Event> events_of(const Problem& problem) {
  std::vector<Event> events;
  events.reserve(problem.items.size());
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const Item& item = problem.items[i];
    if (!problem.order.empty()) {
      events.push_back({item.life(), i, {Bytes(0), item.size}});
      continue;
    }
    for (const Piece& piece : item.pieces) events.push_back({piece.when, i, piece.bytes});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.when.lower != b.when.lower ? a.when.lower < b.when.lower : a.item < b.item;
  });
  return events;
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
    if (auto wrong = sweep.claim(event.item, event.when, event.bytes)) return wrong;
  }
  return std::nullopt;
}

}  // namespace stowage
