#include "support/judges/brute_force.hpp"

#include <algorithm>

namespace stowage::testing {
namespace {

class Search {
 public:
  explicit Search(const Problem& problem)
      : problem_(problem), positions_(problem.items.size()), tops_(problem.regions.size()) {
    // Some best answer has nothing above everything stacked on the highest pin.
    for (const Item& item : problem.items) {
      ceiling_ += item.size + item.alignment;
      highest_pin = std::max(highest_pin, item.pinned.value_or(Bytes(0)));
    }
    ceiling_ += highest_pin;
  }

  std::optional<BruteForceAnswer> run() {
    place(0);
    return best_;
  }

 private:
  void place(std::size_t index) {
    if (best_ && paid() >= best_->peak) return;
    if (index == positions_.size()) {
      best_ = BruteForceAnswer{paid(), positions_};
      return;
    }
    const Item& item = problem_.items[index];
    for (std::uint32_t region = 0; region < problem_.regions.size(); ++region) {
      if (!item.may_lie_in(region)) continue;
      const Bytes end = problem_.regions[region].limit.value_or(ceiling_);
      const Bytes from = item.pinned.value_or(Bytes(0));
      const Bytes to = item.pinned ? *item.pinned : end - item.size;
      for (Bytes offset = from; offset <= to; offset += Bytes(1)) try_at(index, {region, offset});
    }
  }

  void try_at(std::size_t index, Position at) {
    const Item& item = problem_.items[index];
    const std::optional<Bytes> limit = problem_.regions[at.region].limit;
    if (!is_aligned(at.offset, item.alignment) || (limit && at.offset + item.size > *limit)) return;
    for (std::size_t other = 0; other < index; ++other) {
      if (in_conflict(problem_, index, at, other, positions_[other])) return;
    }
    const Bytes top = tops_[at.region];
    positions_[index] = at;
    if (item.size > Bytes(0)) tops_[at.region] = std::max(top, at.offset + item.size);
    place(index + 1);
    tops_[at.region] = top;
  }

  [[nodiscard]] Bytes paid() const {
    Bytes sum;
    for (std::size_t r = 0; r < tops_.size(); ++r) {
      if (problem_.regions[r].paid) sum += tops_[r];
    }
    return sum;
  }

  const Problem& problem_;
  std::vector<Position> positions_;
  std::vector<Bytes> tops_;
  Bytes ceiling_;
  Bytes highest_pin;
  std::optional<BruteForceAnswer> best_;
};

}  // namespace

std::optional<BruteForceAnswer> solve_by_brute_force(const Problem& problem) { return Search(problem).run(); }

}  // namespace stowage::testing
