#include <algorithm>
#include <numeric>

#include "pack/solver.hpp"
#include "pack/target_search.hpp"

/// From an answer and a bound that differ to ones that agree.
///
/// With a capacity that is still exceeded there is one question, whether it can be met. Without, two questions alternate, each
/// with a budget that doubles from round to round: can the bound be reached (yes: optimal; a proof that not: the bound rises),
/// and can the answer be improved (bisection between the bound and the best peak). All peaks of packings in which everything
/// rests on something are multiples of the sizes' and alignments' common divisor, so that only these are asked for.
namespace stowage::pack {
namespace {

/// Nodes of the first round of each question.
constexpr std::uint64_t kFirstBudget = 12'000;
/// Halvings of the range in one round.
constexpr int kHalvings = 6;

std::int64_t common_divisor(const Plain& plain) {
  std::int64_t divisor = 0;
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    divisor = std::gcd(divisor, plain.size[i]);
    if (plain.alignment[i] > 1) divisor = std::gcd(divisor, plain.alignment[i]);
  }
  return std::max<std::int64_t>(1, divisor);
}

class Exact {
 public:
  Exact(Bench& bench, const ValleySearch& search)
      : bench_(bench), plain_(*bench.plain()), search_(search), grain_(common_divisor(plain_)) {}

  void run() {
    if (bench_.problem().capacity) {
      meet_capacity();
      return;
    }
    std::uint64_t budget = kFirstBudget;
    for (; !over(); budget *= 2) {
      reach_bound(budget);
      bisect(budget);
    }
  }

 private:
  [[nodiscard]] bool over() const { return bench_.finished() || bench_.nodes_left() == 0; }
  [[nodiscard]] std::int64_t bound() const { return (bench_.bound().value() + grain_ - 1) / grain_ * grain_; }

  TargetSearch start(std::int64_t target) {
    return TargetSearch(plain_, search_, target, bench_.options().seed, bench_.options().threads);
  }

  SearchEnd ask(TargetSearch& question, std::uint64_t budget) {
    std::vector<std::int64_t> offsets;
    const std::uint64_t before = question.nodes();
    const SearchEnd end =
        question.advance(std::min(budget, bench_.nodes_left()), [&] { return bench_.stop_requested(); }, offsets);
    bench_.spend(question.nodes() - before);
    if (end == SearchEnd::solved) bench_.offer(plain_.positions(bench_.problem(), offsets), "exact");
    if (end == SearchEnd::exhausted)
      bench_.prove({Certificate::Argument::exhausted_search, Bytes(question.target() + grain_), {}, 0});
    return end;
  }

  void meet_capacity() {
    const std::int64_t target = bench_.problem().capacity->value() / grain_ * grain_;
    TargetSearch question = start(target);
    while (!over()) ask(question, bench_.nodes_left());
  }

  /// Goes on at the present bound, or afresh at a new one.
  void reach_bound(std::uint64_t budget) {
    while (!over()) {
      if (!at_bound_ || at_bound_->target() != bound()) at_bound_.emplace(start(bound()));
      if (ask(*at_bound_, budget) == SearchEnd::gave_up) return;
    }
  }

  void bisect(std::uint64_t budget) {
    std::int64_t unknown = bound();  // asked without an answer
    for (int i = 0; i < kHalvings && !over(); ++i) {
      const std::int64_t steps = (bench_.peak().value() - unknown) / grain_;
      if (steps < 2) return;
      TargetSearch question = start(unknown + steps / 2 * grain_);
      if (ask(question, budget) != SearchEnd::solved) unknown = question.target();
    }
  }

  Bench& bench_;
  const Plain& plain_;
  const ValleySearch& search_;
  std::int64_t grain_;
  std::optional<TargetSearch> at_bound_;
};

}  // namespace

void solve_exact(Bench& bench) {
  if (bench.peak() > kMaxBytes) solve_skyline(bench);
  if (bench.finished() || !bench.plain()) return;
  if (const std::unique_ptr<ValleySearch> search = ValleySearch::make(*bench.plain())) Exact(bench, *search).run();
}

}  // namespace stowage::pack
