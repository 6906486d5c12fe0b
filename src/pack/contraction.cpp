#include "pack/interface/contraction.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/interface/sort_stably.hpp"
#include "plan/interface/join_savings.hpp"
#include "plan/interface/pieces.hpp"

namespace stowage::pack {
namespace {

constexpr std::size_t kMatchingEffort = std::size_t{1} << 22;  // looks at a candidate: about a quarter of a second

/// A join with its items in the order in which they begin.
struct Takeover {
  std::uint32_t from;
  std::uint32_t to;
  Bytes distance;  ///< From the start of `from` to that of `to`.
  Step at;         ///< Where `to` begins.
  Bytes slack;     ///< By how much `from` is larger.
};

Takeover takeover_of(const Problem& problem, const Join& join) {
  const Item& a = problem.items[join.a];
  const Item& b = problem.items[join.b];
  if (a.life().lower <= b.life().lower) return {join.a, join.b, join.distance, b.life().lower, a.size - b.size};
  return {join.b, join.a, Bytes(0) - join.distance, a.life().lower, b.size - a.size};
}

/// Items at fixed distances from each other.
class Bundles {
 public:
  enum class Purpose : std::uint8_t {
    /// Bundles will be placed anew: their offsets are multiples of one alignment, they may lie in the same regions, and
    /// with a stream order they have one size, because solvers treat them as a whole.
    to_solve,
    to_tell,  ///< The positions are known.
  };

  /// `purpose` is that of joins for which none is given.
  Bundles(const Problem& problem, Purpose purpose, std::span<const std::optional<Position>> known = {})
      : problem_(problem),
        purpose_(purpose),
        of_(problem.items.size()),
        offset_(of_.size()),
        known_(known.begin(), known.end()) {
    known_.resize(of_.size());
    std::iota(of_.begin(), of_.end(), 0U);
    for (std::uint32_t i = 0; i < of_.size(); ++i) {
      members_.push_back({i});
      lives_.push_back(problem.items[i].life());
      alignment_.push_back(problem.items[i].alignment);
    }
  }

  /// Puts the two items together if no member of one bundle conflicts with one of the other.
  bool join(const Takeover& each) { return join(each, purpose_); }
  bool join(const Takeover& each, Purpose purpose) {
    const std::uint32_t a = of_[each.from];
    const std::uint32_t b = of_[each.to];
    const Bytes shift = offset_[each.from] + each.distance - offset_[each.to];  // of b's offsets in a
    if (a == b) return shift == Bytes(0);
    if (!may_stay(a, b, shift) || !may_be_together(a, b, shift, purpose)) return false;
    if (!known_[a] && known_[b]) known_[a] = Position{known_[b]->region, known_[b]->offset - shift};
    alignment_[a] = std::max(alignment_[a], alignment_[b]);
    for (const std::uint32_t member : members_[b]) {
      of_[member] = a;
      offset_[member] += shift;
      members_[a].push_back(member);
    }
    members_[b].clear();
    return true;
  }

  [[nodiscard]] Contraction build() const;

 private:
  /// Whether the known positions of the two agree.
  [[nodiscard]] bool may_stay(std::uint32_t a, std::uint32_t b, Bytes shift) const {
    return !known_[a] || !known_[b] || *known_[b] == Position{known_[a]->region, known_[a]->offset + shift};
  }
  [[nodiscard]] bool may_be_together(std::uint32_t a, std::uint32_t b, Bytes shift, Purpose purpose) const {
    if (purpose == Purpose::to_solve && !is_aligned_together(a, b, shift)) return false;
    for (const std::uint32_t x : members_[a]) {
      for (const std::uint32_t y : members_[b]) {
        if (!fit(x, offset_[x], y, offset_[y] + shift, purpose)) return false;
      }
    }
    return true;
  }

  /// The bundle begins at its lowest member; its offset will be a multiple of the largest alignment.
  [[nodiscard]] bool is_aligned_together(std::uint32_t a, std::uint32_t b, Bytes shift) const {
    const Bytes largest = std::max(alignment_[a], alignment_[b]);
    const Bytes lowest = std::min(lowest_of(a), lowest_of(b) + shift);
    const auto fits = [&](std::uint32_t bundle, Bytes by) {
      return std::all_of(members_[bundle].begin(), members_[bundle].end(), [&](std::uint32_t each) {
        return is_aligned(offset_[each] + by - lowest, problem_.items[each].alignment);
      });
    };
    return largest == Bytes(1) || (fits(a, Bytes(0)) && fits(b, shift));
  }

  [[nodiscard]] Bytes lowest_of(std::uint32_t bundle) const {
    Bytes lowest = kMaxBytes;
    for (const std::uint32_t each : members_[bundle]) lowest = std::min(lowest, offset_[each]);
    return lowest;
  }

  /// Whether two items at these offsets of one bundle do not conflict.
  [[nodiscard]] bool fit(std::uint32_t x, Bytes at_x, std::uint32_t y, Bytes at_y, Purpose purpose) const {
    const Item& first = problem_.items[x];
    const Item& second = problem_.items[y];
    if (first.pinned || second.pinned) return false;
    if (purpose == Purpose::to_solve && first.allowed != second.allowed) return false;
    if (!problem_.order.empty() && purpose == Purpose::to_solve) {
      const bool same = at_x == at_y && first.size == second.size && is_simple(first) && is_simple(second);
      if (!same) return false;
    } else if (problem_.order.empty() && problem_.apart.empty() && !lives_[x].overlaps(lives_[y])) {
      return true;
    }
    return !in_conflict(problem_, x, {0, at_x}, y, {0, at_y});
  }

  static bool is_simple(const Item& item) {
    return item.pieces.size() == 1 && item.pieces.front().row == Piece::kOwnRow;
  }

  template <class F>
  void for_each_user(const std::vector<std::uint32_t>& members, Bytes lowest, Bytes byte, F&& f) const;
  void cover(StreamOrder& order, std::size_t row, std::size_t other) const;
  [[nodiscard]] std::vector<Piece> ordered_pieces(const std::vector<std::uint32_t>& members, Bytes lowest) const;
  [[nodiscard]] Item build_item(const std::vector<std::uint32_t>& members, Bytes lowest) const;
  void build_order(const std::vector<std::vector<std::uint32_t>>& bundles, Contraction& result) const;

  const Problem& problem_;
  Purpose purpose_;
  std::vector<std::uint32_t> of_;                    ///< By item: the bundle.
  std::vector<Bytes> offset_;                        ///< By item: in its bundle.
  std::vector<std::vector<std::uint32_t>> members_;  ///< By bundle.
  std::vector<Interval> lives_;                      ///< By item.
  std::vector<Bytes> alignment_;                     ///< By bundle.
  std::vector<std::optional<Position>> known_;       ///< By bundle.
};

Item Bundles::build_item(const std::vector<std::uint32_t>& members, Bytes lowest) const {
  if (members.size() == 1) return problem_.items[members.front()];
  const Item& first = problem_.items[members.front()];
  Item item{.pieces = {}, .size = {}, .alignment = Bytes(1), .pinned = {}, .allowed = first.allowed};
  for (const std::uint32_t member : members) {
    const Bytes at = offset_[member] - lowest;
    const Item& each = problem_.items[member];
    item.size = std::max(item.size, at + each.size);
    if (is_aligned(at, each.alignment)) item.alignment = std::max(item.alignment, each.alignment);
    if (item.allowed.empty()) item.allowed = each.allowed;
    std::erase_if(item.allowed, [&](std::uint32_t region) { return !each.may_lie_in(region); });
    for (const Piece& piece : each.pieces)
      item.pieces.push_back({piece.when, {piece.bytes.lower + at, piece.bytes.upper + at}});
  }
  item.pieces = problem_.order.empty() ? disjoint_pieces(std::move(item.pieces)) : ordered_pieces(members, lowest);
  return item;
}

/// With a stream order: a piece wherever other members use the bytes, with a row of its own for them.
std::vector<Piece> Bundles::ordered_pieces(const std::vector<std::uint32_t>& members, Bytes lowest) const {
  std::set<Bytes> cuts;
  for (const std::uint32_t member : members) {
    for (const Piece& piece : problem_.items[member].pieces) {
      cuts.insert(piece.bytes.lower + offset_[member] - lowest);
      cuts.insert(piece.bytes.upper + offset_[member] - lowest);
    }
  }
  std::vector<Piece> pieces;
  for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
    std::optional<Piece> piece;
    for_each_user(members, lowest, *cut, [&](const Piece& user, std::uint32_t member) {
      const bool own = user.row == Piece::kOwnRow;
      const Interval when = own ? problem_.items[member].life() : user.when;
      if (!piece) piece = Piece{when, {*cut, *std::next(cut)}};
      piece->when = {std::min(piece->when.lower, when.lower), std::max(piece->when.upper, when.upper)};
    });
    if (piece) pieces.push_back(*piece);
  }
  return pieces;
}

/// Calls `f(piece, member)` for every piece that uses the byte.
template <class F>
void Bundles::for_each_user(const std::vector<std::uint32_t>& members, Bytes lowest, Bytes byte, F&& f) const {
  for (const std::uint32_t member : members) {
    for (const Piece& piece : problem_.items[member].pieces) {
      if (piece.bytes.contains(byte - offset_[member] + lowest)) f(piece, member);
    }
  }
}

/// Extends a row by another one of the original problem.
void Bundles::cover(StreamOrder& order, std::size_t row, std::size_t other) const {
  for (std::size_t s = 0; s < order.streams; ++s) {
    Step& threshold = order.threshold[row * order.streams + s];
    Step& first = order.first[row * order.streams + s];
    threshold = std::max(threshold, problem_.order.threshold[other * order.streams + s]);
    first = std::min(first, problem_.order.first[other * order.streams + s]);
  }
}

/// The row of a bundle covers those of its members. The rows of pieces follow: where a bundle has several members,
/// those of all that use the bytes.
void Bundles::build_order(const std::vector<std::vector<std::uint32_t>>& bundles, Contraction& result) const {
  if (problem_.order.empty()) return;
  StreamOrder& order = result.problem.order;
  order.streams = problem_.order.streams;
  for (const std::vector<std::uint32_t>& members : bundles) {
    order.append_row(problem_.order, members.front());
    for (const std::uint32_t member : members) cover(order, order.rows() - 1, member);
  }
  for (std::size_t b = 0; b < bundles.size(); ++b) {
    std::vector<Piece>& pieces = result.problem.items[b].pieces;
    for (Piece& piece : pieces) {
      if (bundles[b].size() == 1) {
        if (piece.row == Piece::kOwnRow) continue;
        order.append_row(problem_.order, piece.row);
      } else {
        order.threshold.resize(order.threshold.size() + order.streams, Step(0));
        order.first.resize(order.first.size() + order.streams, kNever);
        for_each_user(bundles[b], lowest_of(of_[bundles[b].front()]), piece.bytes.lower,
                      [&](const Piece& user, std::uint32_t member) {
                        cover(order, order.rows() - 1, user.row == Piece::kOwnRow ? member : user.row);
                      });
      }
      piece.row = static_cast<std::uint32_t>(order.rows() - 1);
    }
  }
}

Contraction Bundles::build() const {
  Contraction result{.problem = {.items = {}, .regions = problem_.regions, .capacity = problem_.capacity},
                     .item_of = std::vector<std::uint32_t>(of_.size()),
                     .offset = std::vector<Bytes>(of_.size())};
  std::vector<std::vector<std::uint32_t>> bundles;
  for (std::uint32_t i = 0; i < of_.size(); ++i) {
    const std::vector<std::uint32_t>& members = members_[of_[i]];
    if (*std::min_element(members.begin(), members.end()) != i) continue;
    const Bytes lowest = lowest_of(of_[i]);
    for (const std::uint32_t member : members) {
      result.item_of[member] = static_cast<std::uint32_t>(bundles.size());
      result.offset[member] = offset_[member] - lowest;
    }
    result.problem.items.push_back(build_item(members, lowest));
    bundles.push_back(members);
  }
  build_order(bundles, result);
  std::vector<ApartPair>& apart = result.problem.apart;
  const auto bytes = [&](const ApartPair& pair, std::uint32_t item) -> std::optional<ByteRange> {
    const ByteRange range = bytes_in(problem_, pair, item);
    const ByteRange all{Bytes(0), result.problem.items[result.item_of[item]].size};
    const ByteRange moved{range.lower + result.offset[item], range.upper + result.offset[item]};
    return moved == all ? std::nullopt : std::optional(moved);
  };
  for (const ApartPair& pair : problem_.apart) {
    const std::uint32_t a = result.item_of[pair.a];
    const std::uint32_t b = result.item_of[pair.b];
    if (a < b) apart.push_back({a, b, bytes(pair, pair.a), bytes(pair, pair.b)});
    if (b < a) apart.push_back({b, a, bytes(pair, pair.b), bytes(pair, pair.a)});
  }
  std::sort(apart.begin(), apart.end());
  apart.erase(std::unique(apart.begin(), apart.end()), apart.end());
  return result;
}

/// Chooses among the takeovers at one step: a matching of the later items with earlier ones. It takes the later items
/// in descending size, each with an augmenting path: sets of items that can be matched together form a matroid, for
/// which this greedy order is optimal.
class Matching {
 public:
  /// Looks at no more than `effort` candidates, and reduces it by those looked at; then the rest stays as it is.
  Matching(const Problem& problem, std::vector<Takeover> candidates, std::size_t& effort)
      : problem_(problem), candidates_(std::move(candidates)), effort_(effort) {
    // The tightest first, so that small items leave large ones to others.
    sort_stably(candidates_, [](const Takeover& a, const Takeover& b) { return a.slack < b.slack; });
    for (std::size_t c = 0; c < candidates_.size(); ++c) by_later_[candidates_[c].to].push_back(c);
  }

  /// The chosen ones first, then the others.
  std::vector<Takeover> run() {
    if (candidates_.size() < 2) return std::move(candidates_);
    for (const std::uint32_t to : later_items()) {
      if (effort_ > 0) augment(to);
    }
    std::vector<char> is_taken(candidates_.size(), 0);
    for (const auto& [from, holder] : holders_) {
      if (holder.candidate) is_taken[*holder.candidate] = 1;
    }
    std::vector<Takeover> result;
    for (const bool wanted : {true, false}) {
      for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if ((is_taken[c] != 0) == wanted) result.push_back(candidates_[c]);
      }
    }
    return result;
  }

 private:
  [[nodiscard]] std::vector<std::uint32_t> later_items() const {
    std::vector<std::uint32_t> items;
    for (const Takeover& each : candidates_) items.push_back(each.to);
    std::sort(items.begin(), items.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Bytes size_a = problem_.items[a].size;
      const Bytes size_b = problem_.items[b].size;
      return size_a != size_b ? size_a > size_b : a < b;
    });
    items.erase(std::unique(items.begin(), items.end()), items.end());
    return items;
  }

  /// An item that looks for an earlier one, and how many of its candidates were tried.
  struct Looking {
    const std::vector<std::size_t>* candidates;
    std::size_t tried = 0;
  };

  /// Finds an earlier item for `to`, for which others may have to change theirs: a path, depth first.
  void augment(std::uint32_t to) {
    ++search_;
    std::vector<Looking> path = {{&by_later_[to]}};
    while (!path.empty()) {
      Looking& last = path.back();
      if (last.tried == last.candidates->size()) {
        path.pop_back();
        continue;
      }
      const std::uint32_t from = candidates_[(*last.candidates)[last.tried++]].from;
      if (effort_ == 0) return;
      --effort_;
      Holder& holder = holders_[from];
      if (std::exchange(holder.seen, search_) == search_) continue;
      if (!holder.candidate) return take(path);
      path.push_back({&by_later_[candidates_[*holder.candidate].to]});
    }
  }

  void take(const std::vector<Looking>& path) {
    for (const Looking& each : path) {
      const std::size_t candidate = (*each.candidates)[each.tried - 1];
      holders_[candidates_[candidate].from].candidate = candidate;
    }
  }

  /// Who has an earlier item.
  struct Holder {
    std::optional<std::size_t> candidate = {};
    std::size_t seen = 0;  ///< The last search that came here.
  };

  const Problem& problem_;
  std::vector<Takeover> candidates_;
  std::map<std::uint32_t, std::vector<std::size_t>> by_later_;  ///< The candidates of each later item.
  std::map<std::uint32_t, Holder> holders_;                     ///< By earlier item.
  std::size_t search_ = 0;
  std::size_t& effort_;
};

template <class At>
bool holds(const Join& join, const At& at) {
  const std::optional<Position> a = at(join.a);
  const std::optional<Position> b = at(join.b);
  return a && b && a->region == b->region && b->offset - a->offset == join.distance;
}

std::vector<Takeover> in_order(const Problem& problem) {
  std::vector<Takeover> takeovers;
  takeovers.reserve(problem.joins.size());
  for (const Join& join : problem.joins) {
    const bool empty = problem.items[join.a].size == Bytes(0) || problem.items[join.b].size == Bytes(0);
    if (!empty) takeovers.push_back(takeover_of(problem, join));
  }
  sort_stably(takeovers, [](const Takeover& a, const Takeover& b) { return a.at < b.at; });
  return takeovers;
}

/// Takes the joins that hold at known positions.
void take_known(const Problem& problem, const KnownPositions& known, Bundles& bundles) {
  using Purpose = Bundles::Purpose;
  const auto is_kept = [&](std::uint32_t item) {
    return std::binary_search(known.kept.begin(), known.kept.end(), item);
  };
  for (const Join& join : problem.joins) {
    const bool empty = problem.items[join.a].size == Bytes(0) || problem.items[join.b].size == Bytes(0);
    if (empty || !holds(join, [&](std::uint32_t item) { return known.positions[item]; })) continue;
    bundles.join(takeover_of(problem, join), is_kept(join.a) && is_kept(join.b) ? Purpose::to_tell : Purpose::to_solve);
  }
}

}  // namespace

std::vector<Position> Contraction::expand(std::span<const Position> positions) const {
  std::vector<Position> result;
  if (positions.empty()) return result;
  result.reserve(item_of.size());
  for (std::size_t i = 0; i < item_of.size(); ++i) {
    const Position& at = positions[item_of[i]];
    result.push_back({at.region, at.offset + offset[i]});
  }
  return result;
}

Contraction contract(const Problem& problem, const KnownPositions& known) {
  Bundles bundles(problem, Bundles::Purpose::to_solve, known.positions);
  if (!known.positions.empty()) take_known(problem, known, bundles);
  const std::vector<Takeover> all = in_order(problem);
  std::size_t effort = kMatchingEffort;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(), [&](const Takeover& each) { return each.at != first->at; });
    for (const Takeover& each : Matching(problem, {first, last}, effort).run()) bundles.join(each);
    first = last;
  }
  return bundles.build();
}

Contraction contract_as(const Problem& problem, std::span<const Position> positions) {
  Bundles bundles(problem, Bundles::Purpose::to_tell);
  for (const Join& join : problem.joins) {
    const auto at = [&](std::uint32_t item) { return std::optional(positions[item]); };
    const bool empty = problem.items[join.a].size == Bytes(0) || problem.items[join.b].size == Bytes(0);
    if (!empty && holds(join, at)) bundles.join(takeover_of(problem, join));
  }
  return bundles.build();
}

}  // namespace stowage::pack
