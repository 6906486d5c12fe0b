#include "pack/exact/target_search.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <thread>

namespace stowage::pack {
namespace {

/// Index into the priorities of a TargetSearch.
enum Kind : std::size_t { kLife, kArea, kCritical, kSize };

struct Style {
  Branching branching;
  Kind kind;
};

/// Each is the quickest on some instance (see the table in docs/packing.md).
constexpr std::array kCalm = {
    Style{Branching::options_per_weight, kCritical}, Style{Branching::options_per_weight, kSize},
    Style{Branching::options_per_weight, kLife},     Style{Branching::options_per_weight, kArea},
    Style{Branching::most_conflicts, kSize},         Style{Branching::most_conflicts, kArea},
};

/// The styles that benefit from noise; with the others, noise finds nothing new.
constexpr std::array kNoisy = {Style{Branching::most_conflicts, kSize}, Style{Branching::most_conflicts, kArea}};
/// Runs per noisy style and round, so that there are as many noisy runs as calm ones.
constexpr std::size_t kDraws = 3;
/// From this round on, the noisy runs of a round are made this many times. What calm runs have not solved by then, they
/// hardly ever do.
constexpr std::uint64_t kLateRound = 4;
constexpr std::uint64_t kLateRepeats = 3;

/// The least nodes of a run of length 1.
constexpr std::uint64_t kUnit = 500;

/// The Luby sequence from n = 1: 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 …
std::uint64_t luby(std::uint64_t n) {
  for (;;) {
    std::uint64_t block = 1;
    while (2 * block - 1 < n) block *= 2;
    if (2 * block - 1 == n) return block;
    n -= block - 1;
  }
}

/// The node limit of a round's runs. A run of length 1 can place everything; from the second round on it can also go
/// back a long way, without which large problems are not solved.
std::uint64_t run_limit(std::uint64_t items, std::uint64_t round) {
  const std::uint64_t unit = std::min<std::uint64_t>(4, round + 1) * items + items / 8;
  return std::max(kUnit, unit) * luby(round + 1);
}

/// By the fullest section that the item lies in, then by area: items that must be right come first.
std::vector<double> critical_first(const Plain& plain) {
  std::vector<double> result(plain.count());
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    std::int64_t fullest = 0;
    for (std::uint32_t s = plain.first[i]; s < plain.last[i]; ++s) fullest = std::max(fullest, plain.total[s]);
    const double area = static_cast<double>(plain.steps[i]) * static_cast<double>(plain.size[i]);
    result[i] = static_cast<double>(fullest) * 1e9 + area;
  }
  return result;
}

std::vector<double> by_area(const Plain& plain) {
  std::vector<double> result(plain.count());
  for (std::uint32_t i = 0; i < plain.count(); ++i)
    result[i] = static_cast<double>(plain.steps[i]) * static_cast<double>(plain.size[i]);
  return result;
}

}  // namespace

TargetSearch::TargetSearch(const Plain& plain, ValleySearches& searches, std::int64_t target, std::uint64_t seed,
                           std::uint32_t threads)
    : plain_(plain),
      searches_(searches),
      target_(target),
      threads_(threads),
      random_(seed),
      failures_(kCalm.size() + kDraws * kNoisy.size()) {
  priorities_ = {pack::priorities(plain, Priority::life), by_area(plain), critical_first(plain),
                 pack::priorities(plain, Priority::size)};
}

/// The calm runs of a round use each style unchanged: what a run learns about sections is kept for the next run of that
/// style, and one of them proves what can be proven. From the second round on there are as many noisy runs, and from
/// the fifth three times as many, which escape from parts of the search that lead nowhere. These only look for a
/// solution, and with brief explanations find it in half the nodes.
std::vector<SearchStyle> TargetSearch::next_styles() {
  std::vector<SearchStyle> styles;
  for (const Style& style : kCalm) {
    if (repeat_ == 0) styles.push_back({style.branching, Explanations::full, priorities_[style.kind]});
  }
  for (std::size_t draw = 0; round_ > 0 && draw < kDraws; ++draw) {
    for (const Style& style : kNoisy)
      styles.push_back({style.branching, Explanations::brief, noisy(priorities_[style.kind])});
  }
  return styles;
}

/// The noise is strong: weak noise stays too close to where the first round failed.
std::vector<double> TargetSearch::noisy(std::vector<double> priority) {
  // Not std::uniform_real_distribution, whose results differ between standard libraries.
  const auto uniform = [&] { return static_cast<double>(random_() >> 11) * 0x1.0p-53; };
  const double noise = 2 + 10 * uniform();
  for (double& value : priority) value *= 1 + noise * uniform();
  return priority;
}

TargetSearch::StyleRun TargetSearch::run_style(ValleySearch& search, std::size_t index, const SearchStyle& style,
                                               std::uint64_t limit, const std::function<bool()>& stop) {
  StyleRun run;
  const std::uint64_t before = search.nodes();
  search.exchange_failures(failures_[index]);
  run.end = search.run(target_, style, limit, stop, run.offsets);
  search.exchange_failures(failures_[index]);
  run.nodes = search.nodes() - before;
  return run;
}

/// One run per style. A run that can no longer win, because an earlier one in the list has, is stopped or not started.
std::vector<TargetSearch::StyleRun> TargetSearch::run_round(const std::vector<SearchStyle>& styles,
                                                            const std::function<bool()>& stop) {
  const std::uint64_t limit = run_limit(plain_.count(), round_);
  const std::size_t first = failures_.size() - styles.size();  // without the calm runs, or without the noisy ones
  std::vector<StyleRun> runs(styles.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> winner = styles.size();
  const auto work = [&](ValleySearch& search) {
    for (std::size_t i = next++; i < styles.size() && i < winner && !stop(); i = next++) {
      runs[i] =
          run_style(search, round_ == 0 ? i : first + i, styles[i], limit, [&, i] { return i > winner || stop(); });
      std::size_t best = winner;
      while (runs[i].end != SearchEnd::gave_up && i < best && !winner.compare_exchange_weak(best, i)) continue;
    }
  };
  std::vector<std::jthread> threads;
  for (std::uint32_t t = 1; t < std::min<std::size_t>(threads_, styles.size()); ++t)
    threads.emplace_back([&work, &search = searches_.at(t)] { work(search); });
  work(searches_.at(0));
  return threads.clear(), runs;
}

void TargetSearch::next_round() {
  if (round_ >= kLateRound && ++repeat_ < kLateRepeats) return;
  repeat_ = 0;
  ++round_;
}

SearchEnd TargetSearch::advance(std::uint64_t nodes, const std::function<bool()>& stop,
                                std::vector<std::int64_t>& offsets) {
  for (const std::uint64_t end = nodes_ + std::min(nodes, std::numeric_limits<std::uint64_t>::max() - nodes_);
       nodes_ < end && !stop(); next_round()) {
    for (StyleRun& run : run_round(next_styles(), stop)) {
      nodes_ += run.nodes;
      if (run.end == SearchEnd::gave_up) continue;
      offsets = std::move(run.offsets);
      return run.end;
    }
  }
  return SearchEnd::gave_up;
}

}  // namespace stowage::pack
