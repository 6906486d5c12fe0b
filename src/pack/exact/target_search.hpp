#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "pack/exact/valley_search.hpp"
#include "pack/greedy/priority.hpp"

namespace stowage::pack {

/// The valley search with restarts. A round runs a fixed list of styles, all with the same node limit, which follows
/// the Luby sequence from round to round. From the second round on, it also makes as many runs with noise in the
/// priorities. Hard instances are hard for most styles and easy for a few; the list finds those.
///
/// The runs of a round are independent: each has its own search. So they may run on several threads. The first run in
/// the list that ends with an answer or a proof wins, even if another was quicker, so that the result is the same for
/// any number of threads. The class itself is not thread-safe.
class TargetSearch {
 public:
  /// `plain` and `search` must outlive it. It makes fresh copies of `search`.
  TargetSearch(const Plain& plain, const ValleySearch& search, std::int64_t target, std::uint64_t seed,
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
  [[nodiscard]] std::vector<double> noisy(std::vector<double> priority);
  [[nodiscard]] std::vector<StyleRun> run_round(const std::vector<SearchStyle>& styles,
                                                const std::function<bool()>& stop);

  const Plain& plain_;
  const ValleySearch& search_;
  std::int64_t target_;
  std::uint32_t threads_;
  std::mt19937_64 random_;
  std::vector<std::vector<double>> priorities_;          ///< One per kind.
  std::vector<std::unique_ptr<ValleySearch>> searches_;  ///< One per run of a round, made on first use.
  std::uint64_t round_ = 0;
  std::uint64_t nodes_ = 0;
};

}  // namespace stowage::pack
