#include "pack/improve/ejection_search.hpp"

#include <algorithm>
#include <limits>

#include "pack/rounding.hpp"

namespace stowage::pack {
namespace {

constexpr std::uint64_t kLooksPerNode = 32;
constexpr std::uint64_t kStepsBetweenLooks = 16;  ///< Steps between polls of `stop`.
constexpr double kRaise = 0.3;                    ///< Average relative increase of an evicted item's cost.
constexpr std::size_t kFewEdges = 48;             ///< Up to this many are sorted by comparison.
/// The highest price; a sum of such prices is still below that of a kept item.
constexpr double kHighest = 1e250;
constexpr double kKept = std::numeric_limits<double>::infinity();

double price(const EjectionSearch::Box& box) { return box.kept ? kKept : box.cost; }

}  // namespace

EjectionSearch::EjectionSearch(std::uint32_t times, std::vector<Box> boxes, std::uint64_t seed)
    : boxes_(std::move(boxes)),
      offsets_(boxes_.size(), kHomeless),
      sizes_(boxes_.size()),
      prices_(boxes_.size()),
      index_(times, boxes_.size()),
      random_(seed),
      moved_(boxes_.size()) {
  for (std::uint32_t i = 0; i < boxes_.size(); ++i) {
    index_.insert(i, boxes_[i].when);
    sizes_[i] = boxes_[i].size;
    prices_[i] = price(boxes_[i]);
  }
  tops_.reset(std::vector<std::int64_t>(boxes_.size() + 1));
}

std::int64_t EjectionSearch::top(std::uint32_t item) const {
  return offsets_[item] == kHomeless || boxes_[item].size == 0 ? 0 : offsets_[item] + boxes_[item].size;
}

void EjectionSearch::reshape(std::uint32_t item, const Box& box) {
  const std::int64_t before = top(item);
  if (box.when != boxes_[item].when) {
    index_.erase(item, boxes_[item].when);
    index_.insert(item, box.when);
  }
  boxes_[item] = box;
  sizes_[item] = box.size;
  prices_[item] = price(box);
  if (top(item) != before) tops_.add(item, item + 1, top(item) - before);
}

void EjectionSearch::put(std::uint32_t item, std::int64_t offset) {
  if (moved_[item] == 0) {
    moved_[item] = 1;
    moves_.push_back({item, offsets_[item]});
  }
  const std::int64_t before = top(item);
  offsets_[item] = offset;
  if (top(item) != before) tops_.add(item, item + 1, top(item) - before);
}

void EjectionSearch::find_in_the_way(std::uint32_t item, std::int64_t offset, std::vector<std::uint32_t>& found) const {
  const std::int64_t end = offset + boxes_[item].size;
  if (offset == end) return;
  index_.visit_meeting(boxes_[item].when, [&](std::uint32_t other) {
    const std::int64_t at = offsets_[other];
    if (at < end && offset < at + sizes_[other] && at != kHomeless && other != item && sizes_[other] > 0)
      found.push_back(other);
  });
}

void EjectionSearch::commit() {
  for (const Relocation& move : moves_) {
    moved_[move.item] = 0;
    prices_[move.item] = price(boxes_[move.item]);
  }
  moves_.clear();
}

void EjectionSearch::back() {
  const std::vector<Relocation> moves = moves_;
  for (const Relocation& move : moves) put(move.item, move.from);
  commit();
}

bool EjectionSearch::costs_less(std::uint32_t a, std::uint32_t b) const {
  return boxes_[a].cost != boxes_[b].cost ? boxes_[a].cost < boxes_[b].cost : a > b;
}

void EjectionSearch::evict(std::uint32_t item) {
  put(item, kHomeless);
  homeless_.push_back(item);
  std::push_heap(homeless_.begin(), homeless_.end(), [this](auto a, auto b) { return costs_less(a, b); });
}

/// Kept items stay whatever the limit; they are removed temporarily, so that the next highest item can be found.
void EjectionSearch::evict_above(std::int64_t limit) {
  std::vector<Relocation> aside;
  const auto count = static_cast<std::uint32_t>(offsets_.size() + 1);
  for (;;) {
    const MaxSegmentTree::Maximum highest = tops_.maximum(0, count);
    if (highest.value <= limit) break;
    if (!boxes_[highest.index].kept) {
      evict(highest.index);
      continue;
    }
    aside.push_back({highest.index, offsets_[highest.index]});
    put(highest.index, kHomeless);
  }
  for (const Relocation& move : aside) put(move.item, move.from);
}

bool EjectionSearch::settle(std::int64_t limit, std::uint64_t node_limit, const std::function<bool()>& stop) {
  homeless_.clear();
  for (const Relocation& move : std::vector<Relocation>(moves_)) {
    if (offsets_[move.item] == kHomeless) evict(move.item);
  }
  evict_above(limit);
  const std::uint64_t end = node_limit < UINT64_MAX - nodes_ ? nodes_ + node_limit : UINT64_MAX;
  for (std::uint64_t steps = 1; !homeless_.empty(); ++steps) {
    if (nodes_ >= end || (steps % kStepsBetweenLooks == 0 && stop())) return false;
    std::pop_heap(homeless_.begin(), homeless_.end(), [this](auto a, auto b) { return costs_less(a, b); });
    const std::uint32_t item = homeless_.back();
    homeless_.pop_back();
    if (!place(item, limit)) return false;
  }
  return true;
}

/// Returns false when there is no offset at all: the item is too large, or kept items fill the space.
bool EjectionSearch::place(std::uint32_t item, std::int64_t limit) {
  find_edges(item);
  nodes_ += 1 + enter_.size() / kLooksPerNode;
  const std::int64_t offset = cheapest_offset(item, limit);
  if (offset == kHomeless) return false;
  in_the_way_.clear();
  find_in_the_way(item, offset, in_the_way_);
  put(item, offset);
  for (const std::uint32_t other : in_the_way_) {
    evict(other);
    const double raise = 1.0 + kRaise * (0.5 + static_cast<double>(random_() % 1024) / 1024);
    prices_[other] = std::min(prices_[other] * raise, kHighest);
  }
  return true;
}

/// Another item is in the way of this one from the offset where their bytes begin to overlap until this one has passed
/// it.
void EjectionSearch::find_edges(std::uint32_t item) {
  enter_.clear();
  leave_.clear();
  const std::int64_t size = boxes_[item].size;
  index_.visit_meeting(boxes_[item].when, [&](std::uint32_t other) {
    const std::int64_t at = offsets_[other];
    if (at == kHomeless || other == item || sizes_[other] == 0) return;
    enter_.push_back({at - size, prices_[other]});
    leave_.push_back({at + sizes_[other], prices_[other]});
  });
}

/// Walks up through the offsets. The cost falls only where an item has been passed, so the cheapest offset is one of
/// these or 0.
std::int64_t EjectionSearch::cheapest_offset(std::uint32_t item, std::int64_t limit) {
  if (boxes_[item].size == 0) return 0;
  sort(enter_);
  sort(leave_);
  const std::int64_t last = limit - boxes_[item].size;
  std::int64_t best = kHomeless;
  double least = std::numeric_limits<double>::infinity();
  double cost = 0;
  int kept = 0;
  const auto count = [&](const Edge& edge, int sign) {
    if (edge.price < kKept) cost += sign * edge.price;
    if (edge.price == kKept) kept += sign;
  };
  std::size_t entered = 0;
  std::size_t left = 0;
  for (std::int64_t offset = 0; offset <= last;) {
    for (; entered < enter_.size() && enter_[entered].at < offset; ++entered) count(enter_[entered], 1);
    for (; left < leave_.size() && leave_[left].at <= offset; ++left) count(leave_[left], -1);
    if (entered == left) return offset;
    if (kept == 0 && cost < least) {
      least = cost;
      best = offset;
    }
    if (left == leave_.size()) break;
    offset = round_up(leave_[left].at, boxes_[item].alignment);
  }
  return best;
}

/// Sorts by offset. Offsets are spread over the whole range, so with as many buckets as edges few comparisons are left.
void EjectionSearch::sort(std::vector<Edge>& edges) {
  const auto less = [](const Edge& a, const Edge& b) { return a.at < b.at; };
  if (edges.size() <= kFewEdges) {
    std::sort(edges.begin(), edges.end(), less);
    return;
  }
  const auto [least, most] = std::minmax_element(edges.begin(), edges.end(), less);
  const std::int64_t from = least->at;
  const auto range = static_cast<std::uint64_t>(most->at - from);
  const int shift =
      std::max(0, static_cast<int>(std::bit_width(range)) - static_cast<int>(std::bit_width(edges.size())));
  const auto bucket = [&](const Edge& edge) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(edge.at - from) >> shift);
  };
  bucket_.assign((range >> shift) + 2, 0);
  for (const Edge& edge : edges) ++bucket_[bucket(edge) + 1];
  for (std::size_t b = 1; b < bucket_.size(); ++b) bucket_[b] += bucket_[b - 1];
  buffer_.resize(edges.size());
  for (const Edge& edge : edges) buffer_[bucket_[bucket(edge)]++] = edge;
  edges.swap(buffer_);
  // Each count is now the begin of the next bucket.
  for (std::size_t b = 0, begin = 0; b + 1 < bucket_.size(); begin = bucket_[b++]) {
    if (bucket_[b] > begin + 1)
      std::sort(edges.begin() + static_cast<std::ptrdiff_t>(begin),
                edges.begin() + static_cast<std::ptrdiff_t>(bucket_[b]), less);
  }
}

}  // namespace stowage::pack
