#include "pack/bench.hpp"

#include <limits>

namespace stowage::pack {
namespace {

/// Up to this many items, scanning everything placed is faster than the tree (bench/README.md, "occupancy").
constexpr std::size_t kFlatItems = 8192;
constexpr std::size_t kFlatRegions = 64;

/// Up to this many meetings, a list of them is the cheapest index: it must be clearly shorter than a scan of everything
/// placed, and must never become large. From the same measurement.
std::size_t meetings_limit(std::size_t items) { return items * std::min<std::size_t>(items / 48, 128); }

/// The node budget when neither a deadline nor a budget is given: a few tenths of a second.
constexpr std::uint64_t kDefaultNodes = 200'000;

}  // namespace

Bench::Bench(const Problem& problem, const SolveOptions& options, const Certificate& bound)
    : problem_(problem), options_(options), bound_(bound) {
  const std::uint64_t otherwise = options.deadline ? std::numeric_limits<std::uint64_t>::max() : kDefaultNodes;
  node_budget_ = options.node_budget.value_or(otherwise);
}

const Plain* Bench::plain() const {
  if (!plain_) plain_ = Plain::from(problem_);
  return *plain_ ? &**plain_ : nullptr;
}

std::unique_ptr<Occupancy> Bench::new_occupancy() const {
  if (!meetings_) meetings_ = Meetings::find(problem_, meetings_limit(problem_.items.size()));
  if (*meetings_) return make_list_occupancy(problem_, **meetings_);
  // A tree is as large as time is long, for each region; with many regions each holds few items.
  const bool many_regions = problem_.regions.size() > kFlatRegions;
  const bool flat =
      problem_.items.size() <= kFlatItems || many_regions || !problem_.order.empty() || !problem_.apart.empty();
  return flat ? make_flat_occupancy(problem_) : make_tree_occupancy(problem_);
}

bool Bench::offer(std::vector<Position> positions, std::string_view solver) {
  const Bytes peak = peak_of(problem_, positions);
  if (peak >= peak_) return false;
  const std::optional<Violation> wrong = validate(problem_, positions);
  STOWAGE_CHECK(!wrong, wrong->message.c_str());
  peak_ = peak;
  positions_ = std::move(positions);
  solver_ = solver;
  if (options_.on_better) options_.on_better(outcome());
  return true;
}

void Bench::prove(const Certificate& certificate) {
  if (certificate.bytes > bound_.bytes) bound_ = certificate;
}

bool Bench::finished() const {
  if (peak_ <= bound_.bytes || infeasible_ || stop_requested()) return true;
  return problem_.capacity && (peak_ <= *problem_.capacity || bound_.bytes > *problem_.capacity);
}

bool Bench::stop_requested() const {
  if (options_.stop.stop_requested()) return true;
  return options_.deadline && std::chrono::steady_clock::now() >= *options_.deadline;
}

bool Bench::needs_any() const { return peak_ > kMaxBytes && !infeasible_ && !options_.stop.stop_requested(); }

SolveOutcome Bench::outcome() const {
  SolveOutcome outcome{.status = SolveStatus::timed_out,
                       .positions = positions_,
                       .peak = {},
                       .bound = bound_,
                       .solver = solver_,
                       .nodes = nodes_};
  const bool found = peak_ <= kMaxBytes;
  if (found) outcome.peak = peak_;
  if (infeasible_ || (problem_.capacity && bound_.bytes > *problem_.capacity)) {
    outcome.status = SolveStatus::infeasible;
  } else if (found && !(problem_.capacity && peak_ > *problem_.capacity)) {
    outcome.status = peak_ == bound_.bytes ? SolveStatus::optimal : SolveStatus::feasible;
  }
  return outcome;
}

}  // namespace stowage::pack
