#include "pack/exact/general_model.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/interface/sort_stably.hpp"
#include "pack/bounds/clique_grower.hpp"
#include "pack/greedy/greedy.hpp"
#include "pack/index/occupancy.hpp"
#include "pack/rounding.hpp"
#include "plan/interface/join_savings.hpp"

namespace stowage::pack {
namespace {

constexpr std::size_t kMaxMeetings = 2'000'000;
constexpr std::size_t kMaxCliqueWork = 200'000;
constexpr std::int64_t kMaxCeiling = std::int64_t{1} << 60;

/// Everything that the search knows about an item except its index. Items with equal keys are interchangeable.
struct TwinKey {
  std::vector<Piece> pieces;
  std::int64_t size;
  std::int64_t alignment;
  std::vector<std::uint32_t> regions;
  std::vector<Step> order;
  std::uint32_t alone;  ///< Its index + 1 if joins or apart pairs or rows of pieces set it apart; else 0.

  friend auto operator<=>(const TwinKey&, const TwinKey&) = default;
};

/// By item: whether a join, an apart pair or a row of a piece makes it different from items that are equal otherwise.
std::vector<char> find_special(const Problem& problem) {
  std::vector<char> special(problem.items.size(), 0);
  for (const Join& join : problem.joins) special[join.a] = special[join.b] = 1;
  for (const ApartPair& pair : problem.apart) special[pair.a] = special[pair.b] = 1;
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    for (const Piece& piece : problem.items[i].pieces) {
      if (piece.row != Piece::kOwnRow) special[i] = 1;
    }
  }
  return special;
}

TwinKey twin_key(const Problem& problem, std::size_t index) {
  const Item& item = problem.items[index];
  TwinKey key{item.pieces, item.size.value(), item.alignment.value(), {}, {}, 0};
  std::sort(key.pieces.begin(), key.pieces.end());
  for (std::uint32_t r = 0; r < problem.regions.size(); ++r) {
    if (item.may_lie_in(r)) key.regions.push_back(r);
  }
  for (std::size_t t = 0; t < problem.order.streams; ++t) {
    key.order.push_back(problem.order.threshold[index * problem.order.streams + t]);
    key.order.push_back(problem.order.first[index * problem.order.streams + t]);
  }
  return key;
}

}  // namespace

std::optional<GeneralModel> GeneralModel::make(const Problem& problem, const std::function<bool()>& stop) {
  GeneralModel model(problem);
  if (!model.add_items() || stop() || !model.add_pairs() || stop()) return std::nullopt;
  if (problem.order.empty()) {
    model.add_section_cliques();
  } else {
    model.add_stream_cliques();
  }
  if (stop()) return std::nullopt;
  model.keep_heaviest_cliques();
  model.order_items();
  model.find_twins();
  model.find_region_twins();
  return model;
}

bool GeneralModel::add_items() {
  std::int64_t highest_pin = 0;
  for (std::uint32_t i = 0; i < problem_->items.size(); ++i) {
    const Item& item = problem_->items[i];
    if (item.size == Bytes(0)) continue;
    ceiling_ += item.size.value() + item.alignment.value();
    ModelItem entry{.index = i, .size = item.size.value(), .alignment = item.alignment.value(), .pinned = {}};
    if (item.pinned) entry.pinned = item.pinned->value();
    highest_pin = std::max(highest_pin, entry.pinned.value_or(0));
    items_.push_back(entry);
  }
  ceiling_ += highest_pin;
  pairs_of_.resize(items_.size());
  cliques_of_.resize(items_.size());
  return ceiling_ <= kMaxCeiling;
}

bool GeneralModel::add_pairs() {
  const std::optional<Meetings> meetings = Meetings::find(*problem_, kMaxMeetings);
  if (!meetings) return false;
  std::vector<std::uint32_t> model_index(problem_->items.size(), kNone);
  for (std::uint32_t i = 0; i < count(); ++i) model_index[items_[i].index] = i;
  std::vector<Meetings::Meeting> row;
  std::vector<Forbidden> ranges;
  for (std::uint32_t a = 0; a < count(); ++a) {
    row.assign(meetings->begin(items_[a].index), meetings->end(items_[a].index));
    std::sort(row.begin(), row.end(), [](const auto& x, const auto& y) { return x.other < y.other; });
    for (std::size_t m = 0; m < row.size();) {
      const std::uint32_t other = row[m].other;
      ranges.clear();
      for (; m < row.size() && row[m].other == other; ++m) {
        const ByteRange p = Meetings::bytes_of(*problem_, items_[a].index, row[m].mine);
        const ByteRange q = Meetings::bytes_of(*problem_, other, row[m].theirs);
        if (p.empty() || q.empty()) continue;
        ranges.push_back({(p.lower - q.upper).value(), (p.upper - q.lower).value()});
      }
      if (other > items_[a].index && !ranges.empty()) add_pair(a, model_index[other], ranges);
    }
  }
  return true;
}

/// Differences are multiples of the smaller alignment, so the ranges are extended to multiples of it. Ranges without an
/// allowed difference between them are merged. Last, joins allow single differences within ranges.
void GeneralModel::add_pair(std::uint32_t a, std::uint32_t b, std::vector<Forbidden>& ranges) {
  const std::int64_t unit = std::min(items_[a].alignment, items_[b].alignment);
  std::sort(ranges.begin(), ranges.end(), [](const Forbidden& x, const Forbidden& y) { return x.above < y.above; });
  const auto first = static_cast<std::uint32_t>(forbidden_.size());
  for (Forbidden range : ranges) {
    range = {round_down(range.above, unit), round_up(range.below, unit)};
    if (forbidden_.size() > first && range.above < forbidden_.back().below) {
      forbidden_.back().below = std::max(forbidden_.back().below, range.below);
    } else {
      forbidden_.push_back(range);
    }
  }
  allow_joins(a, b, first);
  const auto id = static_cast<std::uint32_t>(pairs_.size());
  pairs_.push_back({a, b, first, static_cast<std::uint32_t>(forbidden_.size())});
  pairs_of_[a].push_back(id);
  pairs_of_[b].push_back(id);
}

/// Splits the forbidden ranges from `first` on at the differences that joins of the two allow.
void GeneralModel::allow_joins(std::uint32_t a, std::uint32_t b, std::uint32_t first) {
  const auto [low, high] = std::minmax(items_[a].index, items_[b].index);
  const std::int64_t sign = items_[a].index == low ? 1 : -1;
  const std::int64_t unit = std::min(items_[a].alignment, items_[b].alignment);
  for (const Join& join : plan::joins_between(*problem_, items_[a].index, items_[b].index)) {
    const std::int64_t difference = sign * join.distance.value();
    if (difference % unit != 0 || are_too_close(*problem_, low, high, join.distance)) continue;
    for (std::size_t k = first; k < forbidden_.size(); ++k) {
      const Forbidden range = forbidden_[k];
      if (difference <= range.above || range.below <= difference) continue;
      forbidden_[k].below = difference;
      forbidden_.insert(forbidden_.begin() + static_cast<std::ptrdiff_t>(k) + 1, {difference, range.below});
      break;
    }
  }
}

/// Of every two joined items in a clique, drops the one with fewer bytes, so that the rest are disjoint.
void GeneralModel::drop_joined(Clique& clique) const {
  if (problem_->joins.empty()) return;
  sort_stably(clique, [](const Task& x, const Task& y) { return x.bytes > y.bytes; });
  Clique kept;
  for (const Task& task : clique) {
    const bool joined = std::any_of(kept.begin(), kept.end(), [&](const Task& other) {
      return !plan::joins_between(*problem_, items_[task.item].index, items_[other.item].index).empty();
    });
    if (!joined) kept.push_back(task);
  }
  clique = std::move(kept);
}

/// The pieces live at a step, for every step after which a piece ends and at which one has begun.
void GeneralModel::add_section_cliques() {
  struct PieceEvent {
    Step at;
    bool begins;
    std::uint32_t item;
    std::uint32_t piece;
  };
  std::vector<PieceEvent> events;
  for (std::uint32_t i = 0; i < count(); ++i) {
    const std::vector<Piece>& pieces = problem_->items[items_[i].index].pieces;
    for (std::uint32_t p = 0; p < pieces.size(); ++p) {
      if (pieces[p].when.empty() || pieces[p].bytes.empty()) continue;
      events.push_back({pieces[p].when.lower, true, i, p});
      events.push_back({pieces[p].when.upper, false, i, p});
    }
  }
  std::sort(events.begin(), events.end(), [](const PieceEvent& x, const PieceEvent& y) {
    return std::tie(x.at, x.begins, x.item, x.piece) < std::tie(y.at, y.begins, y.item, y.piece);
  });
  Clique live;
  bool grown = false;
  for (const PieceEvent& event : events) {
    const ByteRange bytes = problem_->items[items_[event.item].index].pieces[event.piece].bytes;
    if (event.begins) {
      live.push_back({event.item, bytes.lower.value(), bytes.length().value(), bytes.length().value()});
    } else {
      if (grown) add_clique(live);
      std::erase_if(live,
                    [&](const Task& task) { return task.item == event.item && task.lower == bytes.lower.value(); });
    }
    grown = event.begins;
  }
}

/// Sets of items of which none comes before another. For each item, and for each pair that no clique contains yet, one
/// clique is grown greedily, largest item first. O(cliques × their items × n / 64).
void GeneralModel::add_stream_cliques() {
  std::vector<std::uint32_t> by_size(count());
  std::iota(by_size.begin(), by_size.end(), 0U);
  std::sort(by_size.begin(), by_size.end(), [&](std::uint32_t x, std::uint32_t y) {
    return items_[x].size != items_[y].size ? items_[x].size > items_[y].size : x < y;
  });
  std::vector<std::uint32_t> rank(count());
  for (std::uint32_t r = 0; r < count(); ++r) rank[by_size[r]] = r;
  CliqueGrower grower(count());
  const auto whole = [&](std::uint32_t i) {
    const Item& item = problem_->items[items_[i].index];
    return item.pieces.size() == 1 && item.pieces.front().bytes == ByteRange{Bytes(0), item.size};
  };
  // Others may share some bytes.
  const auto disjoint = [&](const Pair& pair) {
    if (!whole(pair.a) || !whole(pair.b) || forbidden(pair).size() != 1) return false;
    const Forbidden range = forbidden(pair).front();
    return range.above <= -items_[pair.b].size && range.below >= items_[pair.a].size;
  };
  for (const Pair& pair : pairs_) {
    if (disjoint(pair)) grower.join(rank[pair.a], rank[pair.b]);
  }
  const auto add = [&](const std::vector<std::uint32_t>& ranks) {
    Clique clique;
    for (const std::uint32_t r : ranks)
      clique.push_back({by_size[r], 0, items_[by_size[r]].size, items_[by_size[r]].size});
    if (clique.size() > 1) add_clique(std::move(clique));
  };
  for (std::uint32_t r = 0; r < count(); ++r) {
    if (whole(by_size[r]) && !grower.together(r, r)) add(grower.grow({r}));
  }
  for (const Pair& pair : pairs_) {
    const bool enough = cliques_.size() >= 4 * items_.size();
    if (!enough && disjoint(pair) && !grower.together(rank[pair.a], rank[pair.b]))
      add(grower.grow({rank[pair.a], rank[pair.b]}));
  }
}

void GeneralModel::add_clique(Clique clique) {
  drop_joined(clique);
  std::int64_t unit = std::int64_t{1} << 40;
  for (const Task& task : clique) {
    unit = std::min(unit, items_[task.item].alignment);
    if (task.lower > 0) unit = std::min(unit, task.lower & -task.lower);
  }
  for (Task& task : clique) task.length = round_up(task.bytes, unit);
  cliques_.push_back(std::move(clique));
}

/// Cliques only serve to prune, so any selection is correct: keeps the heaviest, as many as a node can afford.
void GeneralModel::keep_heaviest_cliques() {
  std::vector<std::pair<std::int64_t, std::uint32_t>> by_weight;
  for (std::uint32_t c = 0; c < cliques_.size(); ++c) {
    std::int64_t weight = 0;
    for (const Task& task : cliques_[c]) weight -= task.length;
    by_weight.emplace_back(weight, c);
  }
  std::sort(by_weight.begin(), by_weight.end());
  std::vector<Clique> kept;
  std::size_t work = 0;
  for (const auto& [weight, c] : by_weight) {
    work += cliques_[c].size() * cliques_[c].size();
    if (work > kMaxCliqueWork && !kept.empty()) break;
    const auto id = static_cast<std::uint32_t>(kept.size());
    for (const Task& task : cliques_[c]) {
      std::vector<std::uint32_t>& of = cliques_of_[task.item];
      if (of.empty() || of.back() != id) of.push_back(id);
    }
    kept.push_back(std::move(cliques_[c]));
  }
  cliques_ = std::move(kept);
}

void GeneralModel::order_items() {
  std::vector<double> area(count());
  for (std::uint32_t i = 0; i < count(); ++i) area[i] = area_of(problem_->items[items_[i].index]);
  by_area_.resize(count());
  std::iota(by_area_.begin(), by_area_.end(), 0U);
  std::sort(by_area_.begin(), by_area_.end(),
            [&](std::uint32_t x, std::uint32_t y) { return area[x] != area[y] ? area[x] > area[y] : x < y; });
}

void GeneralModel::find_twins() {
  std::vector<std::pair<TwinKey, std::uint32_t>> keys;
  const std::vector<char> special = find_special(*problem_);
  for (std::uint32_t i = 0; i < count(); ++i) {
    if (!items_[i].pinned && special[items_[i].index] == 0) keys.emplace_back(twin_key(*problem_, items_[i].index), i);
  }
  std::sort(keys.begin(), keys.end());
  for (std::size_t k = 1; k < keys.size(); ++k) {
    if (keys[k].first != keys[k - 1].first) continue;
    ModelItem& item = items_[keys[k].second];
    item.twin = keys[k - 1].second;
    for (const std::uint32_t p : pairs_of_[keys[k].second]) {
      if (pairs_[p].a == item.twin) item.twin_pair = p;
    }
  }
}

void GeneralModel::find_region_twins() {
  const std::vector<Region>& regions = problem_->regions;
  region_twin_.assign(regions.size(), kNone);
  for (std::uint32_t r = 1; r < regions.size(); ++r) {
    for (std::uint32_t q = 0; q < r; ++q) {
      const bool same =
          regions[q] == regions[r] && std::all_of(items_.begin(), items_.end(), [&](const ModelItem& item) {
            const Item& whole = problem_->items[item.index];
            return whole.may_lie_in(q) == whole.may_lie_in(r);
          });
      if (same) region_twin_[r] = q;
    }
  }
}

}  // namespace stowage::pack
