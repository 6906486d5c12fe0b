#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "pack/exact/valley_search.hpp"
#include "pack/greedy/priority.hpp"

namespace stowage::pack {

/// The valley search with restarts. A round runs a fixed list of styles, each with the same node limit, which follows
/// the Luby sequence from round to round; from the second round on as many more with noise in the priorities. Hard
/// instances are hard for most styles and easy for a few; the list finds those.
///
/// The runs of a round are independent of each other: each style has a search of its own. So they may run on several
/// threads, and the first in the list that ends with an answer or a proof wins, whichever was quicker: the result is
/// the same for any number of threads. Not thread-safe itself.
class TargetSearch {
 public:
  /// `plain` and `search`, of which it makes copies, must outlive it.
  TargetSearch(const Plain& plain, const ValleySearch& search, std::int64_t target, std::uint64_t seed,
               std::uint32_t threads);

  /// Runs on, round after round, until about `nodes` more nodes were visited, or until `stop`, which must be
  /// thread-safe.
  SearchEnd advance(std::uint64_t nodes, const std::function<bool()>& stop, std::vector<std::int64_t>& offsets);

  [[nodiscard]] std::int64_t target() const { return target_; }
  /// Visited so far by runs that count: those up to the winner of their round.
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

 private:
  struct StyleRun {
    SearchEnd end = SearchEnd::gave_up;
    std::uint64_t nodes = 0;
    std::vector<std::int64_t> offsets;
  };

  [[nodiscard]] std::vector<SearchStyle> next_styles();
  [[nodiscard]] std::vector<double> noisy(std::vector<double> priority);
  [[nodiscard]] std::vector<StyleRun> run_round(const std::vector<SearchStyle>& styles,
                                                const std::function<bool()>& stop);

  const Plain& plain_;
  const ValleySearch& search_;
  std::int64_t target_;
  std::uint32_t threads_;
  std::mt19937_64 random_;
  std::vector<std::vector<double>> priorities_;          ///< One per kind.
  std::vector<std::unique_ptr<ValleySearch>> searches_;  ///< One per run of a round, made when first needed.
  std::uint64_t round_ = 0;
  std::uint64_t nodes_ = 0;
};

}  // namespace stowage::pack
