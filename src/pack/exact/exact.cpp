#include "pack/exact/exact.hpp"

#include <algorithm>

#include "pack/bounds/offset_sums.hpp"
#include "pack/exact/components.hpp"
#include "pack/exact/general_search.hpp"
#include "pack/exact/target_search.hpp"
#include "pack/grain.hpp"
#include "pack/greedy/skyline.hpp"
#include "pack/improve/neighbourhood.hpp"
#include "pack/interface/unordered_items.hpp"

/// Closes the gap between the best answer and the bound.
///
/// If there is a capacity that the answer exceeds, there is one question: can it be met? Otherwise two questions
/// alternate, with budgets that double from round to round: can the bound be reached (if so, the answer is optimal; if
/// that is refuted, the bound rises), and can the answer be improved (bisection between the bound and the best peak)?
/// Targets are always multiples of the grain.
namespace stowage::pack {
namespace {

/// Nodes of the first round of each question.
constexpr std::uint64_t kFirstBudget = 12'000;
/// Bisection steps per round.
constexpr int kHalvings = 6;
/// From this many items on, a node of the valley search is slow, and repairing the greedy answer before each question
/// pays off.
constexpr std::uint32_t kManyItems = 700;
/// Nodes of a repair per node of the question.
constexpr std::uint64_t kRepairShare = 20;

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
  PlainQuestion(const Bench& bench, const ValleySearch& search, std::int64_t target)
      : bench_(bench), search_(*bench.plain(), search, target, bench.options().seed, bench.options().threads) {}

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

class Exact {
 public:
  using Start = std::function<std::unique_ptr<Question>(std::int64_t target)>;

  Exact(Bench& bench, Start start) : bench_(bench), start_(std::move(start)), grain_(grain_of(bench.problem())) {}

  void run() {
    if (bench_.problem().capacity) {
      meet_capacity();
      return;
    }
    if (bench_.peak() > kMaxBytes) find_any();
    std::uint64_t budget = kFirstBudget;
    for (; !over(); budget *= 2) {
      reach_bound(budget);
      repair(budget);
      bisect(budget);
    }
  }

 private:
  [[nodiscard]] bool over() const { return refused_ || bench_.finished() || bench_.nodes_left() == 0; }
  [[nodiscard]] std::int64_t bound() const { return (bench_.bound().value() + grain_ - 1) / grain_ * grain_; }

  SearchEnd ask(Question& question, std::uint64_t budget) {
    std::vector<Position> positions;
    const std::uint64_t before = question.nodes();
    const SearchEnd end =
        question.ask(std::min(budget, bench_.nodes_left()), [&] { return bench_.stop_requested(); }, positions);
    // A question that gives up without visiting a node is too large for its search; asking again is pointless.
    refused_ = end == SearchEnd::gave_up && question.nodes() == before;
    bench_.spend(question.nodes() - before);
    if (end == SearchEnd::solved) bench_.offer(std::move(positions), "exact");
    if (end == SearchEnd::exhausted)
      bench_.prove({Certificate::Argument::exhausted_search, Bytes(question.target() + grain_), {}, 0});
    return end;
  }

  void repair(std::uint64_t budget) {
    if (over() || !bench_.plain() || bench_.plain()->count() < kManyItems) return;
    if (!neighbourhood_) neighbourhood_.emplace(bench_);
    neighbourhood_->run(std::min(kRepairShare * budget, bench_.nodes_left() / 2));
  }

  void meet_capacity() {
    const std::unique_ptr<Question> question = start_(bench_.problem().capacity->value() / grain_ * grain_);
    if (!over()) ask(*question, kFirstBudget);
    repair(kFirstBudget);
    while (!over()) ask(*question, bench_.nodes_left());
  }

  /// Is there any answer? If so, there is one below all items stacked on the highest pin, in each region.
  void find_any() {
    Bytes stacked;
    Bytes highest_pin;
    for (const Item& item : bench_.problem().items) {
      stacked += item.size + item.alignment;
      highest_pin = std::max(highest_pin, item.pinned.value_or(Bytes(0)));
    }
    for (std::size_t r = 0; r < bench_.problem().regions.size(); ++r)
      stacked = add_within_limit(stacked, highest_pin).value_or(kMaxBytes);
    const std::unique_ptr<Question> question = start_(stacked.value());
    while (!over() && bench_.peak() > kMaxBytes) {
      if (ask(*question, bench_.nodes_left()) == SearchEnd::exhausted) bench_.prove_infeasible();
    }
  }

  /// Continues at the present bound, or starts again at a new one.
  void reach_bound(std::uint64_t budget) {
    while (!over()) {
      if (!at_bound_ || at_bound_->target() != bound()) at_bound_ = start_(bound());
      if (ask(*at_bound_, budget) == SearchEnd::gave_up) return;
    }
  }

  void bisect(std::uint64_t budget) {
    std::int64_t unknown = bound();  // the highest target without an answer
    for (int i = 0; i < kHalvings && !over(); ++i) {
      repair(budget);
      const std::int64_t steps = (bench_.peak().value() - unknown) / grain_;
      if (steps < 2 || over()) return;
      const std::unique_ptr<Question> question = start_(unknown + steps / 2 * grain_);
      if (ask(*question, budget) != SearchEnd::solved) unknown = question->target();
    }
  }

  Bench& bench_;
  Start start_;
  std::int64_t grain_;
  std::unique_ptr<Question> at_bound_;
  bool refused_ = false;  ///< Whether the last question was.
  std::optional<Neighbourhood> neighbourhood_;
};

void search_plain(Bench& bench) {
  const std::unique_ptr<ValleySearch> search = ValleySearch::make(*bench.plain());
  if (!search) {
    improve_large(bench);  // too large for a proof
    return;
  }
  // With a capacity, only a proof that it cannot be met is useful; targets are multiples of the grain.
  const std::int64_t grain = grain_of(bench.problem());
  const Bytes from =
      std::max(bench.bound(), Bytes(bench.problem().capacity.value_or(Bytes(0)).value() / grain * grain));
  if (const auto proof = offset_sums_bound(bench.problem(), *bench.plain(), from, bench.peak())) bench.prove(*proof);
  if (bench.finished()) return;
  Exact(bench, [&](std::int64_t target) { return std::make_unique<PlainQuestion>(bench, *search, target); }).run();
}

}  // namespace

void search_general(Bench& bench) {
  if (const auto proof = unordered_items_bound(bench.problem(), bench.bound(), [&] { return bench.stop_requested(); }))
    bench.prove(*proof);
  if (bench.finished()) return;
  GeneralSearch search(bench.problem());
  Exact(bench, [&](std::int64_t target) {
    return std::make_unique<GeneralQuestion>(search, target, bench.options().seed);
  }).run();
}

void solve_exact(Bench& bench) {
  solve_at_first(bench);
  if (bench.finished() || solve_components(bench)) return;
  bench.plain() ? search_plain(bench) : search_general(bench);
}

}  // namespace stowage::pack
