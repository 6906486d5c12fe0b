#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "pack/exact/valley_search.hpp"
#include "pack/greedy/priority.hpp"

namespace stowage::pack {

/// Searches of one problem: one for each thread, made on first use, since each takes some megabytes. Different ones may
/// be used at the same time; `at` is not thread-safe.
class ValleySearches {
 public:
  explicit ValleySearches(std::unique_ptr<ValleySearch> first) { searches_.push_back(std::move(first)); }

  [[nodiscard]] ValleySearch& at(std::size_t thread) {
    while (searches_.size() <= thread) searches_.push_back(searches_.front()->fresh());
    return *searches_[thread];
  }

 private:
  std::vector<std::unique_ptr<ValleySearch>> searches_;
};

/// The valley search with restarts. A round runs a fixed list of styles, all with the same node limit, which follows
/// the Luby sequence from round to round. From the second round on, it also makes as many runs with noise in the
/// priorities, and from the fifth three times as many. Hard instances are hard for most styles and easy for a few; the
/// list finds those.
///
/// The runs of a round are independent: each has its own failure counts. So they may run on several threads. The first
/// run in the list that ends with an answer or a proof wins, even if another was quicker, so that the result is the
/// same for any number of threads. The class itself is not thread-safe.
class TargetSearch {
 public:
  /// `plain` and `searches`, which are of that problem, must outlive it.
  TargetSearch(const Plain& plain, ValleySearches& searches, std::int64_t target, std::uint64_t seed,
               std::uint32_t threads);

  /// Continues round after round until about `nodes` more nodes were visited, or until `stop` returns true. `stop` must
  /// be thread-safe.
  SearchEnd advance(std::uint64_t nodes, const std::function<bool()>& stop, std::vector<std::int64_t>& offsets);

  [[nodiscard]] std::int64_t target() const { return target_; }
  /// Nodes visited so far by runs that count: in each round, those up to the winner.
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

 private:
  struct StyleRun {
    SearchEnd end = SearchEnd::gave_up;
    std::uint64_t nodes = 0;
    std::vector<std::int64_t> offsets;
  };

  [[nodiscard]] std::vector<SearchStyle> next_styles();
  void next_round();
  [[nodiscard]] std::vector<double> noisy(std::vector<double> priority);
  StyleRun run_style(ValleySearch& search, std::size_t index, const SearchStyle& style, std::uint64_t limit,
                     const std::function<bool()>& stop);
  [[nodiscard]] std::vector<StyleRun> run_round(const std::vector<SearchStyle>& styles,
                                                const std::function<bool()>& stop);

  const Plain& plain_;
  ValleySearches& searches_;
  std::int64_t target_;
  std::uint32_t threads_;
  std::mt19937_64 random_;
  std::vector<std::vector<double>> priorities_;  ///< One per kind.
  std::vector<std::vector<double>> failures_;    ///< By section; one per run of a round.
  std::uint64_t round_ = 0;
  std::uint64_t repeat_ = 0;  ///< Of the noisy runs of this round.
  std::uint64_t nodes_ = 0;
};

}  // namespace stowage::pack
