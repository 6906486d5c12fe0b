#include "stowage/pack/replanner.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "pack/greedy/greedy.hpp"
#include "pack/improve/plain_packing.hpp"

/// The steps of a change. For a plain problem:
/// 1. The changed boxes take their new shape where they lie.
/// 2. Where a changed item overlaps others, either it or they are evicted, whichever is fewer bytes.
/// 3. `EjectionSearch` finds offsets for the evicted items below the limit.
/// 4. If it fails, the problem is solved from scratch.
///
/// For any other problem, the items that stay are placed first and the rest greedily, then step 4 applies.
namespace stowage {
namespace {

using pack::EjectionSearch;
using pack::why_not_at;

constexpr std::uint64_t kNoLimit = UINT64_MAX;

/// The node limit of a repair: about the cost of solving from scratch.
std::uint64_t repair_nodes(std::size_t items) { return 200 + items / 2; }

Error invalid(std::string message, std::size_t item) {
  return {ErrorCode::invalid, std::move(message), {.file = {}, .line = {}, .path = fmt::format("items[{}]", item)}};
}

}  // namespace

PreviousAnswer PreviousAnswer::of(const SolveOutcome& outcome) {
  return {{outcome.positions.begin(), outcome.positions.end()}, outcome.peak, outcome.bound.bytes};
}

class Replanner::State {
 public:
  State(Problem problem, ReplanOptions options) : problem_(std::move(problem)), options_(std::move(options)) {}

  Status start(const PreviousAnswer& previous);
  Result<Replanned> change(std::span<const ItemChange> changes);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const std::vector<Position>& positions() const { return positions_; }
  [[nodiscard]] const Replanned& outcome() const { return outcome_; }

 private:
  using Positions = std::vector<std::optional<Position>>;

  [[nodiscard]] Status check(const PreviousAnswer& previous) const;
  Status swap_in(std::vector<ItemChange>& changes);
  [[nodiscard]] Bytes limit(Bytes bound) const;
  [[nodiscard]] Result<SolveOutcome> solve_afresh() const;
  void conclude(const Certificate& bound, std::size_t moved, bool from_scratch);

  // Plain problems.
  void build_packing();
  Status keep(const Positions& previous);
  Status reshape(std::span<const ItemChange> changes);
  Status make_room(std::span<const ItemChange> changes);
  Status make_room(std::uint32_t item);
  template <class KeepWhatCanStay>
  Status settle(KeepWhatCanStay&& keep_what_can_stay);
  std::size_t take_positions();

  /// Any problem.
  Status place_again(const Positions& previous);

  Problem problem_;
  ReplanOptions options_;
  std::vector<std::optional<Position>> kept_;  ///< By item.
  std::vector<Position> positions_;
  double ratio_ = 1;  ///< Peak / bound, of the previous answer or of the last one from scratch.
  Bytes padded_;      ///< The sum of sizes and alignments.
  std::optional<pack::PlainPacking> packing_;
  Replanned outcome_;
  std::vector<std::uint32_t> in_the_way_;
};

// -------------------------------------------------------------------------------------------------------- any problem

Status Replanner::State::check(const PreviousAnswer& previous) const {
  STOWAGE_TRY_STATUS(check_problem(problem_));
  if (std::none_of(solvers().begin(), solvers().end(),
                   [&](const SolverInfo& info) { return info.name == options_.solve.solver; }))
    return Error{ErrorCode::unknown_name, fmt::format("there is no solver '{}'", options_.solve.solver), {}};
  if (!(options_.tolerance >= 0)) return Error{ErrorCode::invalid, "the tolerance is negative or not a number", {}};
  if (previous.positions.size() != problem_.items.size()) {
    return Error{
        ErrorCode::invalid,
        fmt::format("there are {} previous positions, but {} items", previous.positions.size(), problem_.items.size()),
        {}};
  }
  for (const std::size_t item : options_.kept) {
    if (item >= problem_.items.size() || !previous.positions[item])
      return invalid(fmt::format("item {} must stay, but it has no previous position", item), item);
  }
  return Done{};
}

Status Replanner::State::start(const PreviousAnswer& previous) {
  STOWAGE_TRY_STATUS(check(previous));
  kept_.resize(problem_.items.size());
  for (const std::size_t item : options_.kept) kept_[item] = previous.positions[item];
  if (previous.bound > Bytes(0))
    ratio_ = std::max(1.0, static_cast<double>(previous.peak.value()) / static_cast<double>(previous.bound.value()));
  for (const Item& item : problem_.items) padded_ += item.size + item.alignment;
  if (pack::is_plain(problem_)) {
    packing_.emplace(problem_, options_.kept, options_.solve.seed);
    positions_.resize(problem_.items.size());
    STOWAGE_TRY_STATUS(settle([&] { return keep(previous.positions); }));
  } else {
    STOWAGE_TRY_STATUS(place_again(previous.positions));
  }
  outcome_.moved = 0;
  for (std::size_t i = 0; i < positions_.size(); ++i)
    outcome_.moved += previous.positions[i] && *previous.positions[i] != positions_[i];
  return Done{};
}

/// Exchanges items of the problem with those of `changes`. On failure nothing changes.
Status Replanner::State::swap_in(std::vector<ItemChange>& changes) {
  Bytes padded = padded_;
  Status status = Done{};
  std::size_t done = 0;
  for (; done < changes.size() && status; ++done) {
    const std::size_t item = changes[done].item;
    if (item >= problem_.items.size()) {
      status = invalid(fmt::format("there is no item {}", item), item);
      break;  // items that were already exchanged are restored below
    }
    padded -= problem_.items[item].size + problem_.items[item].alignment;
    std::swap(problem_.items[item], changes[done].becomes);
    status = check_item(problem_, item);
    const Item& now = problem_.items[item];
    const std::optional<Bytes> sum = status ? add_within_limit(now.size, now.alignment) : std::nullopt;
    if (sum && add_within_limit(padded, *sum) && add_within_limit(outcome_.peak, padded + *sum)) {
      padded += *sum;
    } else if (status) {
      status =
          invalid(fmt::format("item {} makes the sum of sizes and offsets exceed the limit of 2^62 bytes", item), item);
    }
  }
  if (status) {
    padded_ = padded;
    return status;
  }
  while (done-- > 0) std::swap(problem_.items[changes[done].item], changes[done].becomes);
  return status;
}

Result<Replanned> Replanner::State::change(std::span<const ItemChange> changes) {
  std::vector<ItemChange> before(changes.begin(), changes.end());
  const Bytes padded = padded_;
  STOWAGE_TRY_STATUS(swap_in(before));
  const bool plain = packing_ && std::all_of(changes.begin(), changes.end(),
                                             [](const ItemChange& change) { return pack::is_plain(change.becomes); });
  if (!plain) packing_.reset();
  const Status status = plain ? reshape(changes) : place_again({positions_.begin(), positions_.end()});
  if (status) return outcome_;
  for (std::size_t k = before.size(); k-- > 0;) std::swap(problem_.items[before[k].item], before[k].becomes);
  padded_ = padded;
  if (pack::is_plain(problem_)) build_packing();
  return status.error();
}

/// The highest acceptable peak: the usual one plus the tolerance, but never above the capacity if the capacity can be
/// met at all.
Bytes Replanner::State::limit(Bytes bound) const {
  const double most = static_cast<double>(bound.value()) * ratio_ * (1 + options_.tolerance);
  const Bytes usual =
      most < static_cast<double>(kMaxBytes.value()) ? Bytes(static_cast<std::int64_t>(most)) : kMaxBytes;
  return problem_.capacity && bound <= *problem_.capacity ? std::min(usual, *problem_.capacity) : usual;
}

/// Solves from scratch. Items that must stay are pinned.
Result<SolveOutcome> Replanner::State::solve_afresh() const {
  if (options_.kept.empty()) return solve(problem_, options_.solve);
  Problem pinned = problem_;
  for (const std::size_t item : options_.kept) {
    pinned.items[item].pinned = kept_[item]->offset;
    pinned.items[item].allowed = {kept_[item]->region};
  }
  return solve(pinned, options_.solve);
}

void Replanner::State::conclude(const Certificate& bound, std::size_t moved, bool from_scratch) {
  outcome_ = {
      .status = SolveStatus::feasible, .peak = {}, .bound = bound, .moved = moved, .from_scratch = from_scratch};
  outcome_.peak = packing_ ? Bytes(packing_->search().peak()) : peak_of(problem_, positions_);
  if (from_scratch && bound.bytes > Bytes(0))
    ratio_ = std::max(1.0, static_cast<double>(outcome_.peak.value()) / static_cast<double>(bound.bytes.value()));
  if (outcome_.peak == bound.bytes) outcome_.status = SolveStatus::optimal;
  if (positions_.size() != problem_.items.size() || (problem_.capacity && outcome_.peak > *problem_.capacity))
    outcome_.status = SolveStatus::timed_out;
  if (problem_.capacity && bound.bytes > *problem_.capacity) outcome_.status = SolveStatus::infeasible;
}

Status Replanner::State::place_again(const Positions& previous) {
  Certificate bound = lower_bound(problem_);
  const pack::Bench bench(problem_, options_.solve, bound);
  pack::KeptPositions kept{.positions = previous, .must_stay = options_.kept};
  kept.positions.resize(problem_.items.size());
  for (const std::size_t item : options_.kept) kept.positions[item] = kept_[item];
  for (std::size_t i = 0; i < problem_.items.size(); ++i) {
    const Item& item = problem_.items[i];
    if (!item.pinned || kept_[i]) continue;
    kept.positions[i] = Position{item.allowed.empty() ? 0 : item.allowed.front(), *item.pinned};
    kept.must_stay.push_back(i);
  }
  STOWAGE_TRY(std::optional<std::vector<Position>> placed, place_keeping(bench, kept));
  std::vector<Position> positions;
  if (placed) positions.swap(*placed);
  const Bytes peak = positions.empty() ? kMaxBytes : peak_of(problem_, positions);
  const bool enough = placed.has_value() && peak <= limit(bound.bytes);
  if (!enough) {
    STOWAGE_TRY(SolveOutcome afresh, solve_afresh());
    if (!afresh.positions.empty() && afresh.peak < peak) positions = std::move(afresh.positions);
    if (options_.kept.empty() && afresh.bound.bytes > bound.bytes) bound = afresh.bound;
  }
  positions_ = std::move(positions);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < positions_.size() && i < previous.size(); ++i)
    moved += previous[i] && *previous[i] != positions_[i];
  conclude(bound, moved, !enough);
  return Done{};
}

// ----------------------------------------------------------------------------------------------------- plain problems

/// Builds the packing from the present problem and positions.
void Replanner::State::build_packing() {
  packing_.emplace(problem_, options_.kept, options_.solve.seed);
  for (std::uint32_t i = 0; i < positions_.size(); ++i) packing_->search().put(i, positions_[i].offset.value());
  packing_->search().commit();
}

/// Puts items that can stay at their previous offsets, starting with those that must stay, and makes the rest homeless.
Status Replanner::State::keep(const Positions& previous) {
  EjectionSearch& search = packing_->search();
  const std::vector<std::size_t> by_size = pack::in_order(problem_, pack::PlacementOrder::size);
  std::vector<std::size_t> order;
  const auto must_stay = [&](std::size_t item) { return kept_[item].has_value(); };
  std::copy_if(by_size.begin(), by_size.end(), std::back_inserter(order), must_stay);
  std::copy_if(by_size.begin(), by_size.end(), std::back_inserter(order), std::not_fn(must_stay));
  for (const std::size_t index : order) {
    const auto item = static_cast<std::uint32_t>(index);
    search.put(item, EjectionSearch::kHomeless);
    const std::optional<Position>& at = previous[index];
    // There must be room for all other items above it, so that no sum can overflow.
    const bool possible = at && why_not_at(problem_, index, *at).empty() && at->offset <= kMaxBytes - padded_;
    in_the_way_.clear();
    if (possible) search.find_in_the_way(item, at->offset.value(), in_the_way_);
    if (possible && in_the_way_.empty()) {
      search.put(item, at->offset.value());
    } else if (kept_[index]) {
      std::string reason = why_not_at(problem_, index, *at);
      if (reason.empty()) reason = "leaves no room for the other items below 2^62 bytes";
      if (!in_the_way_.empty()) reason = fmt::format("overlaps item {}, which must stay too", in_the_way_[0]);
      return invalid(fmt::format("item {} must stay at {}, but {}", index, at->offset.value(), reason), index);
    }
  }
  return Done{};
}

Status Replanner::State::reshape(std::span<const ItemChange> changes) {
  const bool covered = std::all_of(changes.begin(), changes.end(), [&](const ItemChange& change) {
    return packing_->covers(change.becomes.pieces.front().when);
  });
  if (!covered) build_packing();
  for (const ItemChange& change : changes) {
    if (covered) packing_->reshape(change.item, problem_.items[change.item]);
  }
  return settle([&] { return make_room(changes); });
}

Status Replanner::State::make_room(std::span<const ItemChange> changes) {
  for (const ItemChange& change : changes) STOWAGE_TRY_STATUS(make_room(static_cast<std::uint32_t>(change.item)));
  return Done{};
}

/// The item stays if it can; otherwise either it or the items in its way are evicted, whichever is fewer bytes.
Status Replanner::State::make_room(std::uint32_t item) {
  EjectionSearch& search = packing_->search();
  const std::int64_t offset = search.offset(item);
  if (offset == EjectionSearch::kHomeless) return Done{};
  const bool aligned = is_aligned(Bytes(offset), problem_.items[item].alignment);
  in_the_way_.clear();
  search.find_in_the_way(item, offset, in_the_way_);
  std::int64_t bytes = 0;
  std::optional<std::uint32_t> immovable;
  for (const std::uint32_t other : in_the_way_) {
    bytes += search.box(other).size;
    if (kept_[other]) immovable = other;
  }
  if (kept_[item] && (immovable || !aligned)) {
    const std::string reason = immovable ? fmt::format("overlaps item {}, which must stay too", *immovable)
                                         : why_not_at(problem_, item, *kept_[item]);
    return invalid(fmt::format("item {} must stay at {}, but {}", item, offset, reason), item);
  }
  const bool stays = kept_[item] || (aligned && !immovable && bytes <= search.box(item).size);
  if (!stays) search.put(item, EjectionSearch::kHomeless);
  for (const std::uint32_t other : in_the_way_) {
    if (stays) search.put(other, EjectionSearch::kHomeless);
  }
  return Done{};
}

/// Finds offsets for all homeless items; if that fails, solves from scratch.
template <class KeepWhatCanStay>
Status Replanner::State::settle(KeepWhatCanStay&& keep_what_can_stay) {
  const auto never = [] { return false; };
  EjectionSearch& search = packing_->search();
  Certificate bound = packing_->bound();
  STOWAGE_TRY_STATUS(keep_what_can_stay());
  const bool enough = search.settle(limit(bound.bytes).value(), repair_nodes(problem_.items.size()), never);
  if (!enough) {
    search.back();
    STOWAGE_TRY(const SolveOutcome afresh, solve_afresh());
    for (std::uint32_t i = 0; i < afresh.positions.size(); ++i) search.put(i, afresh.positions[i].offset.value());
    if (options_.kept.empty() && afresh.bound.bytes > bound.bytes) bound = afresh.bound;
    if (afresh.positions.empty()) {
      STOWAGE_TRY_STATUS(keep_what_can_stay());
      STOWAGE_CHECK(search.settle(kMaxBytes.value(), kNoLimit, never), "there is always room above all other items");
    }
  }
  const std::size_t moved = take_positions();
  conclude(bound, moved, !enough);
  return Done{};
}

/// Copies the offsets of items that have moved to `positions_`. Returns how many there are.
std::size_t Replanner::State::take_positions() {
  EjectionSearch& search = packing_->search();
  std::size_t moved = 0;
  for (const EjectionSearch::Relocation& move : search.moves()) {
    const std::int64_t now = search.offset(move.item);
    if (now == move.from) continue;
    positions_[move.item] = {0, Bytes(now)};
    ++moved;
  }
  search.commit();
  return moved;
}

// ------------------------------------------------------------------------------------------------------------- public

Replanner::Replanner(std::unique_ptr<State> state) : state_(std::move(state)) {}
Replanner::~Replanner() = default;
Replanner::Replanner(Replanner&&) noexcept = default;
Replanner& Replanner::operator=(Replanner&&) noexcept = default;

Result<Replanner> Replanner::make(Problem problem, PreviousAnswer previous, ReplanOptions options) {
  if (!problem.joins.empty())
    return Error{ErrorCode::unsupported, "the problem has joins; a Replanner needs to know which of them hold", {}};
  if (previous.positions.empty()) previous.positions.resize(problem.items.size());
  auto state = std::make_unique<State>(std::move(problem), std::move(options));
  STOWAGE_TRY_STATUS(state->start(previous));
  return Replanner(std::move(state));
}

Result<Replanned> Replanner::change(std::span<const ItemChange> changes) { return state_->change(changes); }
const Problem& Replanner::problem() const { return state_->problem(); }
const std::vector<Position>& Replanner::positions() const { return state_->positions(); }
const Replanned& Replanner::outcome() const { return state_->outcome(); }

}  // namespace stowage
