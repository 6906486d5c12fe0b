#include "pack/interface/unordered_items.hpp"

#include <algorithm>

#include "pack/bounds/bound.hpp"
#include "pack/bounds/clique_grower.hpp"
#include "pack/stream_uses.hpp"

namespace stowage::pack {
namespace {

constexpr std::size_t kMaxItems = 8'192;
constexpr std::uint32_t kItemsBetweenLooks = 64;

class Finder {
 public:
  explicit Finder(const Problem& problem)
      : problem_(problem),
        items_(paid_items(problem)),
        uses_(problem.order, problem.items.size()),
        grower_(items_.size()) {
    for (const std::size_t item : items_) lives_.push_back(problem.items[item].life());
  }

  /// The best set found until `stop` returns true.
  Certificate find(const std::function<bool()>& stop) {
    for (std::uint32_t a = 0; a < items_.size(); ++a) {
      if (a % kItemsBetweenLooks == 0 && stop()) return {};
      for (std::uint32_t b = 0; b < a; ++b) {
        if (unordered(a, b)) grower_.join(a, b);
      }
    }
    for (const Step step : fullest_steps()) try_from(live_at(step));
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      if (i % kItemsBetweenLooks == 0 && stop()) break;
      if (!grower_.together(i, i)) try_from({i});
    }
    std::sort(best_.items.begin(), best_.items.end());
    return best_;
  }

 private:
  /// The items that must go to paid regions, largest first.
  static std::vector<std::size_t> paid_items(const Problem& problem) {
    std::vector<std::size_t> items;
    for (std::size_t i = 0; i < problem.items.size(); ++i) {
      if (problem.items[i].size > Bytes(0) && !may_evade(problem, problem.items[i])) items.push_back(i);
    }
    std::sort(items.begin(), items.end(), [&](std::size_t a, std::size_t b) {
      return problem.items[a].size != problem.items[b].size ? problem.items[a].size > problem.items[b].size : a < b;
    });
    if (items.size() > kMaxItems) items.resize(kMaxItems);
    return items;
  }

  /// Only the item that begins first can come before the other, and not while both are live.
  [[nodiscard]] bool unordered(std::uint32_t a, std::uint32_t b) const {
    if (lives_[a].overlaps(lives_[b])) return true;
    return lives_[a].lower < lives_[b].lower ? !uses_.before(items_[a], items_[b])
                                             : !uses_.before(items_[b], items_[a]);
  }

  [[nodiscard]] std::vector<Step> fullest_steps() const {
    std::vector<std::pair<Step, Bytes>> changes;
    for (const std::size_t i : items_) {
      changes.emplace_back(problem_.items[i].life().lower, problem_.items[i].size);
      changes.emplace_back(problem_.items[i].life().upper, Bytes(0) - problem_.items[i].size);
    }
    std::sort(changes.begin(), changes.end());
    std::vector<std::pair<Bytes, Step>> live;
    Bytes sum;
    for (const auto& [step, change] : changes) {
      sum += change;
      if (change > Bytes(0)) live.emplace_back(sum, step);
    }
    const auto end = live.begin() + static_cast<std::ptrdiff_t>(std::min(live.size(), kUnorderedSteps));
    std::partial_sort(live.begin(), end, live.end(), std::greater<>());
    std::vector<Step> steps;
    for (auto each = live.begin(); each != end; ++each) steps.push_back(each->second);
    return steps;
  }

  /// Items that are live at the same step are unordered.
  [[nodiscard]] std::vector<std::uint32_t> live_at(Step step) const {
    std::vector<std::uint32_t> live;
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      if (lives_[i].contains(step)) live.push_back(i);
    }
    return live;
  }

  void try_from(std::vector<std::uint32_t> some) {
    Certificate found{Certificate::Argument::unordered_items, Bytes(0), {}, 0, {}};
    for (const std::uint32_t i : grower_.grow(std::move(some))) {
      found.items.push_back(items_[i]);
      found.bytes += problem_.items[items_[i]].size;
    }
    if (found.bytes > best_.bytes) best_ = std::move(found);
  }

  const Problem& problem_;
  std::vector<std::size_t> items_;
  StreamUses uses_;
  std::vector<Interval> lives_;  ///< Of the items.
  CliqueGrower grower_;
  Certificate best_;
};

}  // namespace

std::optional<Certificate> unordered_items_bound(const Problem& problem, Bytes from,
                                                 const std::function<bool()>& stop) {
  if (problem.order.empty()) return std::nullopt;
  Certificate found = Finder(problem).find(stop);
  if (found.bytes <= from) return std::nullopt;
  return found;
}

}  // namespace stowage::pack
