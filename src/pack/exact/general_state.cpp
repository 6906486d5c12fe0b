#include "pack/exact/general_state.hpp"

#include <algorithm>
#include <limits>

#include "pack/rounding.hpp"

namespace stowage::pack {
namespace {

constexpr std::uint32_t kNoRegion = GeneralModel::kNone;
constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t kMaxRoom = std::int64_t{1} << 61;
constexpr std::size_t kMaxCliqueWorkPerNode = 20'000;  ///< Per node, in tasks².
constexpr std::size_t kWorkBetweenLooks = 50'000;      ///< Well below a millisecond.

}  // namespace

GeneralState::GeneralState(const Problem& problem, const GeneralModel& model)
    : problem_(problem), model_(model), weight_(model.count(), 1.0) {}

void GeneralState::clear(std::int64_t target, const std::function<bool()>& stop) {
  const std::uint32_t n = model_.count();
  target_ = target;
  stop_ = &stop;
  stopped_ = false;
  lower_.assign(n, 0);
  upper_.assign(n, model_.ceiling());
  least_.assign(model_.pairs().size(), -kInfinite);
  most_.assign(model_.pairs().size(), kInfinite);
  region_.assign(n, kNoRegion);
  choices_.assign(std::size_t{n} * regions(), 1);
  choice_count_.assign(n, regions());
  top_.assign(regions(), 0);
  load_.assign(regions() > 1 ? model_.cliques().size() * regions() : 0, 0);
  paid_ = 0;
  trail_.clear();
  queue_.clear();
  dirty_.clear();
  queued_.assign(n, 0);
  is_dirty_.assign(model_.cliques().size(), 0);
  tops_changed_ = false;
}

bool GeneralState::start(std::int64_t target, const std::function<bool()>& stop) {
  clear(target, stop);
  if (target < 0) return false;
  for (std::uint32_t i = 0; i < model_.count(); ++i) {
    if (!start_item(i)) return false;
  }
  return propagate();
}

bool GeneralState::start_item(std::uint32_t i) {
  const GeneralModel::ModelItem& item = model_.item(i);
  if (item.twin_pair != GeneralModel::kNone) least_[item.twin_pair] = 1;
  if (item.pinned && (!set_lower(i, *item.pinned) || !set_upper(i, *item.pinned))) return false;
  if (regions() == 1) return assign(i, 0);
  for (std::uint32_t r = 0; r < regions(); ++r) {
    const bool fits = item.size <= ceiling(r) && problem_.items[item.index].may_lie_in(r);
    if (!fits && !exclude(i, r)) return false;
  }
  return true;
}

void GeneralState::undo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) undo(trail_.back());
  clear_queues();
}

void GeneralState::undo(const Change& change) {
  switch (change.what) {
    case What::lower:
      lower_[change.index] = change.old;
      break;
    case What::upper:
      upper_[change.index] = change.old;
      break;
    case What::least:
      least_[change.index] = change.old;
      break;
    case What::most:
      most_[change.index] = change.old;
      break;
    case What::region:
      add_load(change.index, region_[change.index], -1);
      region_[change.index] = kNoRegion;
      break;
    case What::choice:
      choices_[change.index] = 1;
      ++choice_count_[change.index / regions()];
      break;
    case What::top:
      if (problem_.regions[change.index].paid) paid_ += change.old - top_[change.index];
      top_[change.index] = change.old;
      break;
  }
}

void GeneralState::clear_queues() {
  for (const std::uint32_t i : queue_) queued_[i] = 0;
  for (const std::uint32_t c : dirty_) is_dirty_[c] = 0;
  queue_.clear();
  dirty_.clear();
  tops_changed_ = false;
}

void GeneralState::touch(std::uint32_t i) {
  if (region_[i] == kNoRegion) return;
  if (!queued_[i]) {
    queued_[i] = 1;
    queue_.push_back(i);
  }
  for (const std::uint32_t c : model_.cliques_of(i)) {
    if (is_dirty_[c]) continue;
    is_dirty_[c] = 1;
    dirty_.push_back(c);
    std::push_heap(dirty_.begin(), dirty_.end(), std::greater<>());
  }
}

bool GeneralState::set_lower(std::uint32_t i, std::int64_t value) {
  if (value <= lower_[i]) return true;
  trail_.push_back({What::lower, i, lower_[i]});
  lower_[i] = round_up(value, model_.item(i).alignment);
  if (lower_[i] > upper_[i]) return false;
  touch(i);
  return region_[i] == kNoRegion || set_top(region_[i], lower_[i] + model_.item(i).size);
}

bool GeneralState::set_upper(std::uint32_t i, std::int64_t value) {
  if (value >= upper_[i]) return true;
  trail_.push_back({What::upper, i, upper_[i]});
  upper_[i] = round_down(value, model_.item(i).alignment);
  if (lower_[i] > upper_[i]) return false;
  touch(i);
  return true;
}

bool GeneralState::set_top(std::uint32_t region, std::int64_t value) {
  if (value <= top_[region]) return true;
  trail_.push_back({What::top, region, top_[region]});
  if (problem_.regions[region].paid) paid_ += value - top_[region];
  top_[region] = value;
  tops_changed_ = true;
  return paid_ <= target_ && value <= ceiling(region);
}

void GeneralState::set_least(std::uint32_t pair, std::int64_t value) {
  if (value <= least_[pair]) return;
  trail_.push_back({What::least, pair, least_[pair]});
  least_[pair] = value;
  touch(model_.pairs()[pair].a);
}

void GeneralState::set_most(std::uint32_t pair, std::int64_t value) {
  if (value >= most_[pair]) return;
  trail_.push_back({What::most, pair, most_[pair]});
  most_[pair] = value;
  touch(model_.pairs()[pair].a);
}

/// The highest possible end of an item in the region: its limit, and what the tops of the other paid regions leave.
std::int64_t GeneralState::ceiling(std::uint32_t region) const {
  std::int64_t result = model_.ceiling();
  const Region& at = problem_.regions[region];
  if (at.limit) result = std::min(result, at.limit->value());
  return at.paid ? std::min(result, target_ - paid_ + top_[region]) : result;
}

void GeneralState::add_load(std::uint32_t i, std::uint32_t region, std::int64_t sign) {
  if (regions() == 1) return;
  for (const std::uint32_t c : model_.cliques_of(i)) {
    for (const GeneralModel::Task& task : model_.cliques()[c]) {
      if (task.item == i) load_[c * regions() + region] += sign * task.bytes;
    }
  }
}

bool GeneralState::assign(std::uint32_t i, std::uint32_t region) {
  if (region_[i] != kNoRegion) return region_[i] == region;
  if (!may(i, region)) return false;
  trail_.push_back({What::region, i, 0});
  region_[i] = region;
  add_load(i, region, 1);
  for (const std::uint32_t c : model_.cliques_of(i)) {
    if (regions() > 1 && !set_top(region, load(c, region))) return false;
  }
  const GeneralModel::ModelItem& item = model_.item(i);
  touch(i);
  return set_top(region, lower_[i] + item.size) && set_upper(i, ceiling(region) - item.size);
}

bool GeneralState::exclude(std::uint32_t i, std::uint32_t region) {
  if (!may(i, region)) return true;
  if (region_[i] == region) return false;
  trail_.push_back({What::choice, i * regions() + region, 0});
  choices_[i * regions() + region] = 0;
  if (--choice_count_[i] == 0) return false;
  if (choice_count_[i] > 1 || region_[i] != kNoRegion) return true;
  std::uint32_t only = 0;
  while (!may(i, only)) ++only;
  return assign(i, only);
}

void GeneralState::look_at_clock(std::size_t work) {
  work_ += work;
  if (work_ < next_look_) return;
  next_look_ = work_ + kWorkBetweenLooks;
  stopped_ = stopped_ || (*stop_ && (*stop_)());
}

std::uint32_t GeneralState::next_item() {
  const std::uint32_t i = queue_.back();
  queue_.pop_back();
  queued_[i] = 0;
  return i;
}

std::uint32_t GeneralState::next_clique() {
  std::pop_heap(dirty_.begin(), dirty_.end(), std::greater<>());
  const std::uint32_t c = dirty_.back();
  dirty_.pop_back();
  is_dirty_[c] = 0;
  return c;
}

bool GeneralState::propagate() {
  std::size_t clique_work = 0;
  while (!stopped_) {
    if (!queue_.empty()) {
      if (!propagate_item(next_item())) return false;
    } else if (tops_changed_) {
      tops_changed_ = false;
      if (regions() > 1 && !propagate_tops()) return false;
    } else if (!dirty_.empty() && clique_work < kMaxCliqueWorkPerNode) {
      const std::uint32_t c = next_clique();
      clique_work += model_.cliques()[c].size() * model_.cliques()[c].size();
      if (!propagate_clique(c)) return false;
    } else {
      return true;
    }
  }
  return false;
}

bool GeneralState::propagate_item(std::uint32_t i) {
  look_at_clock(model_.pairs_of(i).size());
  for (const std::uint32_t p : model_.pairs_of(i)) {
    const GeneralModel::Pair& pair = model_.pairs()[p];
    if (region_[pair.a] != region_[pair.b]) continue;
    if (propagate_pair(p)) continue;
    weight_[pair.a] += 1;
    weight_[pair.b] += 1;
    return false;
  }
  return true;
}

std::int64_t GeneralState::least(std::uint32_t p) const {
  const GeneralModel::Pair& pair = model_.pairs()[p];
  return std::max(least_[p], lower_[pair.b] - upper_[pair.a]);
}

std::int64_t GeneralState::most(std::uint32_t p) const {
  const GeneralModel::Pair& pair = model_.pairs()[p];
  return std::min(most_[p], upper_[pair.b] - lower_[pair.a]);
}

/// Moves the smallest and the largest difference out of the forbidden ranges; the remaining range limits the offsets.
bool GeneralState::propagate_pair(std::uint32_t p) {
  const GeneralModel::Pair& pair = model_.pairs()[p];
  const std::span<const GeneralModel::Forbidden> forbidden = model_.forbidden(pair);
  std::int64_t from = least(p);
  std::int64_t to = most(p);
  for (const GeneralModel::Forbidden& range : forbidden) {
    if (range.above < from && from < range.below) from = range.below;
  }
  for (std::size_t k = forbidden.size(); k-- > 0;) {
    if (forbidden[k].above < to && to < forbidden[k].below) to = forbidden[k].above;
  }
  if (from > to) return false;
  return set_lower(pair.b, lower_[pair.a] + from) && set_upper(pair.a, upper_[pair.b] - from) &&
         set_lower(pair.a, lower_[pair.b] - to) && set_upper(pair.b, upper_[pair.a] + to);
}

bool GeneralState::propagate_tops() {
  for (std::uint32_t i = 0; i < model_.count(); ++i) {
    if (region_[i] != kNoRegion) {
      if (!set_upper(i, ceiling(region_[i]) - model_.item(i).size)) return false;
      continue;
    }
    for (std::uint32_t r = 0; r < regions(); ++r) {
      if (lower_[i] + model_.item(i).size > ceiling(r) && !exclude(i, r)) return false;
    }
  }
  return true;
}

bool GeneralState::propagate_clique(std::uint32_t c) {
  const GeneralModel::Clique& clique = model_.cliques()[c];
  look_at_clock(clique.size() * clique.size());
  bool fits = regions() == 1 || enough_room(c);
  for (std::uint32_t r = 0; fits && r < regions(); ++r) fits = shrink_clique(c, r);
  if (fits) return true;
  for (const GeneralModel::Task& task : clique) weight_[task.item] += 1;
  return false;
}

/// Whether there are enough bytes in all regions for the items that have no region yet.
bool GeneralState::enough_room(std::uint32_t c) const {
  std::int64_t room = target_;
  for (std::uint32_t r = 0; r < regions(); ++r) {
    room += problem_.regions[r].paid ? -load(c, r) : ceiling(r) - load(c, r);
    room = std::min(room, kMaxRoom);
  }
  for (const GeneralModel::Task& task : model_.cliques()[c]) {
    if (region_[task.item] == kNoRegion) room -= task.bytes;
  }
  return room >= 0;
}

bool GeneralState::shrink_clique(std::uint32_t c, std::uint32_t region) {
  tasks_.clear();
  const GeneralModel::Clique& clique = model_.cliques()[c];
  for (std::uint32_t t = 0; t < clique.size(); ++t) {
    const GeneralModel::Task& task = clique[t];
    if (region_[task.item] != region) continue;
    const std::int64_t end = task.lower + task.length;
    tasks_.push_back({lower_[task.item] + task.lower, task.length, upper_[task.item] + end, t});
  }
  if (tasks_.size() < 3) return true;  // `propagate_pair` is exact for a pair
  if (!finder_.run(tasks_)) return false;
  for (const EdgeTask& found : tasks_) {
    const GeneralModel::Task& task = clique[found.tag];
    if (!set_lower(task.item, found.release - task.lower)) return false;
    if (!set_upper(task.item, found.deadline - task.lower - task.length)) return false;
  }
  return true;
}

std::int64_t GeneralState::growth(std::uint32_t i, std::uint32_t region) const {
  if (!problem_.regions[region].paid) return -1;
  std::int64_t top = model_.item(i).size;
  for (const std::uint32_t c : model_.cliques_of(i)) top = std::max(top, load(c, region) + model_.item(i).size);
  return std::max<std::int64_t>(0, top - top_[region]);
}

}  // namespace stowage::pack
