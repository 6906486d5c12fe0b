#include "pack/exact/exact.hpp"

#include <algorithm>

#include "pack/bounds/offset_sums.hpp"
#include "pack/exact/components.hpp"
#include "pack/exact/general_search.hpp"
#include "pack/exact/peaks.hpp"
#include "pack/exact/target_search.hpp"
#include "pack/grain.hpp"
#include "pack/greedy/skyline.hpp"
#include "pack/improve/neighbourhood.hpp"
#include "pack/interface/unordered_items.hpp"
#include "pack/taken.hpp"

/// Closes the gap between the best answer and the bound.
///
/// Two questions alternate, with budgets that double from round to round: can the goal be reached, and can the answer
/// be improved (bisection between the goal and the best peak)? The goal is the bound (if it is reached, the answer is
/// optimal; if that is refuted, the bound rises), or a capacity above it. A capacity that can be met usually is soon,
/// so that the second question waits; if it is not met, the best answer should be as good as without a capacity.
/// Targets are always peaks that an optimal answer can have (`Peaks`).
namespace stowage::pack {
namespace {

/// Nodes of the first round of each question.
constexpr std::uint64_t kFirstBudget = 12'000;
/// Bisection steps per round.
constexpr int kHalvings = 6;
/// From this many items on, a node of the valley search is slow, and repairing the greedy answer before each question
/// pays off.
constexpr std::uint32_t kManyItems = 700;
/// Nodes of the question whether a capacity can be met, before any other is asked. Enough for the challenging set.
constexpr std::uint64_t kPatience = 30'000;
/// Nodes of a repair per node of the question.
constexpr std::uint64_t kRepairShare = 20;
/// With fewer than `kManyItems`, repairs are used only where sizes are uneven, and this many times less.
constexpr std::uint64_t kRareRepairs = 8;
/// Up to this many items the general search is used where alignments differ.
constexpr std::uint32_t kFewItems = 300;
/// A step of the bisection has this many times fewer nodes than the question of the goal, where that question takes
/// long (many items, later rounds) or is less likely to be answered than the one below the best peak (uneven sizes).
constexpr std::uint64_t kQuickness = 4;
/// The same with a capacity.
constexpr std::uint64_t kCapacityQuickness = 2;
constexpr std::uint64_t kLongBudget = 50'000;

/// Is there an answer with a peak of at most the target? Asking again continues where the search stopped.
class Question {
 public:
  virtual ~Question() = default;
  [[nodiscard]] virtual std::int64_t target() const = 0;
  [[nodiscard]] virtual std::uint64_t nodes() const = 0;
  virtual SearchEnd ask(std::uint64_t nodes, const std::function<bool()>& stop, std::vector<Position>& positions) = 0;
};

class PlainQuestion final : public Question {
 public:
  PlainQuestion(const Bench& bench, ValleySearches& searches, std::int64_t target)
      : bench_(bench), search_(*bench.plain(), searches, target, bench.options().seed, bench.options().threads) {}

  [[nodiscard]] std::int64_t target() const override { return search_.target(); }
  [[nodiscard]] std::uint64_t nodes() const override { return search_.nodes(); }
  SearchEnd ask(std::uint64_t nodes, const std::function<bool()>& stop, std::vector<Position>& positions) override {
    std::vector<std::int64_t> offsets;
    const SearchEnd end = search_.advance(nodes, stop, offsets);
    if (end == SearchEnd::solved) positions = bench_.plain()->positions(bench_.problem(), offsets);
    return end;
  }

 private:
  const Bench& bench_;
  TargetSearch search_;
};

class GeneralQuestion final : public Question {
 public:
  /// A node here costs about as much as this many nodes of the valley search, and is counted as such.
  static constexpr std::uint64_t kNodeCost = 16;

  GeneralQuestion(GeneralSearch& search, std::int64_t target, std::uint64_t seed)
      : search_(search), target_(target), seed_(seed), from_(search.nodes()) {}

  [[nodiscard]] std::int64_t target() const override { return target_; }
  [[nodiscard]] std::uint64_t nodes() const override { return (search_.nodes() - from_) * kNodeCost; }
  SearchEnd ask(std::uint64_t nodes, const std::function<bool()>& stop, std::vector<Position>& positions) override {
    return search_.run(Bytes(target_), seed_++, std::max<std::uint64_t>(1, nodes / kNodeCost), stop, positions);
  }

 private:
  GeneralSearch& search_;
  std::int64_t target_;
  std::uint64_t seed_;
  std::uint64_t from_;
};

/// Asks the valley search, then the general search, each with half of the nodes. Where alignments differ, the valley
/// search finds answers sooner, and edge-finding in the general search proves more.
class MixedQuestion final : public Question {
 public:
  MixedQuestion(PlainQuestion plain, GeneralQuestion general)
      : plain_(std::move(plain)), general_(std::move(general)) {}

  [[nodiscard]] std::int64_t target() const override { return plain_.target(); }
  [[nodiscard]] std::uint64_t nodes() const override { return plain_.nodes() + general_.nodes(); }
  SearchEnd ask(std::uint64_t nodes, const std::function<bool()>& stop, std::vector<Position>& positions) override {
    const SearchEnd end = plain_.ask(nodes - nodes / 2, stop, positions);
    return end == SearchEnd::gave_up ? general_.ask(nodes / 2, stop, positions) : end;
  }

 private:
  PlainQuestion plain_;
  GeneralQuestion general_;
};

/// Whether all sizes are multiples of the alignments that matter. If not, the bound usually is far from the optimum,
/// and there are many peaks between the two.
enum class Sizes : std::uint8_t { even, uneven };

class Exact {
 public:
  using Start = std::function<std::unique_ptr<Question>(std::int64_t target)>;

  Exact(Bench& bench, Start start, Sizes sizes)
      : bench_(bench), start_(std::move(start)), peaks_(bench.problem()), uneven_(sizes == Sizes::uneven) {
    const std::optional<Bytes> capacity = bench.problem().capacity;
    if (capacity) capacity_ = peaks_.at_most(capacity->value());
  }

  void run() {
    raise_bound(bench_.bound().value());
    if (!capacity_ && bench_.peak() > kMaxBytes) find_any(bench_.nodes_left());
    std::uint64_t budget = kFirstBudget;
    for (; !over(); budget *= 2) {
      reach_goal(budget);
      repair(many() ? budget : budget / kRareRepairs);
      if (capacity_ && budget < kPatience) continue;
      if (bench_.peak() > kMaxBytes) find_any(budget);
      if (uneven_ && !capacity_) improve(2 * budget);
      bisect(budget / quickness(budget));
    }
  }

 private:
  [[nodiscard]] bool many() const { return bench_.plain() && bench_.plain()->count() >= kManyItems; }
  [[nodiscard]] std::uint64_t quickness(std::uint64_t budget) const {
    if (capacity_) return kCapacityQuickness;
    return uneven_ || many() || budget > kLongBudget ? kQuickness : 1;
  }
  [[nodiscard]] bool over() const { return refused_ || bench_.finished() || bench_.nodes_left() == 0; }
  /// The lowest target that is of use and not refuted.
  [[nodiscard]] std::int64_t goal() const {
    return peaks_.at_least(std::max(bench_.bound().value(), capacity_.value_or(0)));
  }

  /// No optimal answer has a peak below `bytes`.
  void raise_bound(std::int64_t bytes) {
    const Bytes bound(peaks_.at_least(bytes));
    if (bound > bench_.bound()) bench_.prove({Certificate::Argument::exhausted_search, bound, {}, 0});
  }

  SearchEnd ask(Question& question, std::uint64_t budget) {
    std::vector<Position> positions;
    const std::uint64_t before = question.nodes();
    const SearchEnd end =
        question.ask(std::min(budget, bench_.nodes_left()), [&] { return bench_.stop_requested(); }, positions);
    // A question that gives up without visiting a node is too large for its search; asking again is pointless.
    refused_ = end == SearchEnd::gave_up && question.nodes() == before;
    bench_.spend(question.nodes() - before);
    if (end == SearchEnd::solved) bench_.offer(std::move(positions), "exact");
    if (end == SearchEnd::exhausted) raise_bound(question.target() + 1);
    return end;
  }

  void repair(std::uint64_t budget) {
    if (over() || !(many() || uneven_)) return;
    if (!neighbourhood_) neighbourhood_.emplace(bench_);
    neighbourhood_->run(std::min(kRepairShare * budget, bench_.nodes_left() / 2));
  }

  /// Is there any answer? If so, there is one below all items stacked on the highest pin, in each region.
  void find_any(std::uint64_t budget) {
    Bytes stacked;
    Bytes highest_pin;
    for (const Item& item : bench_.problem().items) {
      stacked += item.size + item.alignment;
      highest_pin = std::max(highest_pin, item.pinned.value_or(Bytes(0)));
    }
    for (std::size_t r = 0; r < bench_.problem().regions.size(); ++r)
      stacked = add_within_limit(stacked, highest_pin).value_or(kMaxBytes);
    const std::unique_ptr<Question> question = start_(stacked.value());
    const std::uint64_t end = bench_.nodes_left() - std::min(budget, bench_.nodes_left());
    while (!over() && bench_.peak() > kMaxBytes && bench_.nodes_left() > end) {
      if (ask(*question, budget) == SearchEnd::exhausted) bench_.prove_infeasible();
    }
  }

  /// Continues at the present goal, or starts again at a new one.
  void reach_goal(std::uint64_t budget) {
    const std::uint64_t end = bench_.nodes_left() - std::min(budget, bench_.nodes_left());
    while (!over() && bench_.nodes_left() > end) {
      if (!at_goal_ || at_goal_->target() != goal()) at_goal_ = start_(goal());
      if (ask(*at_goal_, budget) == SearchEnd::gave_up) return;
    }
  }

  /// Is there an answer just below the best? If not, the best is optimal.
  void improve(std::uint64_t budget) {
    while (!over()) {
      const std::int64_t target = peaks_.at_most(bench_.peak().value() - 1);
      if (!below_best_ || below_best_->target() != target) below_best_ = start_(target);
      if (ask(*below_best_, budget) == SearchEnd::gave_up) return;
    }
  }

  void bisect(std::uint64_t budget) {
    std::int64_t unknown = goal();  // the highest target without an answer
    for (int i = 0; i < kHalvings && !over(); ++i) {
      if (many()) repair(budget);
      const std::int64_t peak = bench_.peak().value();
      if (peak > kMaxBytes.value() || over()) return;
      const std::int64_t below = peaks_.at_most(unknown + (peak - unknown) / 2);
      const std::int64_t middle = below > unknown ? below : peaks_.at_least(unknown + 1);
      if (middle >= peak) return;
      const std::unique_ptr<Question> question = start_(middle);
      if (ask(*question, budget) != SearchEnd::solved) unknown = question->target();
    }
  }

  Bench& bench_;
  Start start_;
  Peaks peaks_;
  bool uneven_;
  std::optional<std::int64_t> capacity_;  ///< The largest peak within it.
  std::unique_ptr<Question> at_goal_;
  std::unique_ptr<Question> below_best_;
  bool refused_ = false;  ///< Whether the last question was.
  std::optional<Neighbourhood> neighbourhood_;
};

void search_plain(Bench& bench) {
  std::unique_ptr<ValleySearch> search = ValleySearch::make(*bench.plain());
  if (!search) {
    improve_large(bench);  // too large for a proof
    return;
  }
  // With a capacity, only a proof that it cannot be met is useful; targets are multiples of the common divisor.
  const std::int64_t grain = grain_of(bench.problem());
  const Bytes from =
      std::max(bench.bound(), Bytes(bench.problem().capacity.value_or(Bytes(0)).value() / grain * grain));
  if (const auto proof = offset_sums_bound(bench.problem(), *bench.plain(), from, bench.peak())) bench.prove(*proof);
  if (bench.finished()) return;
  ValleySearches searches(std::move(search));
  const auto ask_plainly = [&](std::int64_t target) {
    return std::make_unique<PlainQuestion>(bench, searches, target);
  };
  const std::optional<Plain> taken = with_taken_sizes(*bench.plain());
  const bool coarse = !coarse_alignments(taken ? *taken : *bench.plain()).empty();
  if (!coarse || bench.plain()->count() > kFewItems) {
    Exact(bench, ask_plainly, taken || coarse ? Sizes::uneven : Sizes::even).run();
    return;
  }
  GeneralSearch general(bench.problem());
  const auto ask_both = [&](std::int64_t target) {
    return std::make_unique<MixedQuestion>(PlainQuestion(bench, searches, target),
                                           GeneralQuestion(general, target, bench.options().seed));
  };
  Exact(bench, ask_both, Sizes::uneven).run();
}

}  // namespace

void search_general(Bench& bench) {
  if (const auto proof = unordered_items_bound(bench.problem(), bench.bound(), [&] { return bench.stop_requested(); }))
    bench.prove(*proof);
  if (bench.finished()) return;
  GeneralSearch search(bench.problem());
  Exact(
      bench,
      [&](std::int64_t target) { return std::make_unique<GeneralQuestion>(search, target, bench.options().seed); },
      Sizes::even)
      .run();
}

void solve_exact(Bench& bench) {
  solve_at_first(bench);
  if (bench.finished() || solve_components(bench)) return;
  bench.plain() ? search_plain(bench) : search_general(bench);
}

}  // namespace stowage::pack
