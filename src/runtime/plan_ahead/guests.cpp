#include "runtime/plan_ahead/guests.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stowage::runtime {
namespace {

constexpr int kMostGaps = 1000;

}  // namespace

const Guests::Held* Guests::find(Bytes offset) const {
  const auto found = occupied_.find(offset);
  return found == occupied_.end() || !found->second.guest ? nullptr : &found->second;
}

std::optional<Bytes> Guests::find_place(Bytes size, std::optional<Bytes> preferred) const {
  if (preferred && is_free({*preferred, *preferred + size})) return preferred;
  std::optional<Bytes> best;
  Bytes least = kMaxBytes;
  Bytes lower(0);
  const auto consider_up_to = [&](Bytes upper) {
    if (upper - lower < size || upper - lower >= least) return;
    least = upper - lower;
    best = lower;
  };
  int patience = kMostGaps;
  auto taken = occupied_.begin();
  auto soon = expected_.begin();
  while ((taken != occupied_.end() || soon != expected_.end()) && --patience > 0) {
    const bool taken_first = soon == expected_.end() || (taken != occupied_.end() && taken->first <= soon->lower);
    const ByteRange next = taken_first ? ByteRange{taken->first, taken->second.upper} : *soon;
    taken_first ? void(++taken) : void(++soon);
    consider_up_to(next.lower);
    lower = std::max(lower, next.upper);
  }
  if (patience > 0) consider_up_to(end_);
  return best;
}

bool Guests::is_free(ByteRange bytes) const {
  if (bytes.upper > end_) return false;
  const auto next = occupied_.lower_bound(bytes.upper);
  return next == occupied_.begin() || std::prev(next)->second.upper <= bytes.lower;
}

void Guests::enter(Bytes offset, Bytes size, Bytes requested) {
  occupied_.emplace(offset, Held{offset + size, requested, true});
  ++count_;
}

void Guests::leave(Bytes offset) {
  occupied_.erase(offset);
  --count_;
}

void Guests::watch(const std::vector<ByteRange>& live) {
  std::map<Bytes, Held> occupied;
  for (const ByteRange& bytes : live) occupied.emplace(bytes.lower, Held{.upper = bytes.upper, .requested = {}});
  occupied_ = std::move(occupied);
  watching_ = true;
}

void Guests::expect(std::vector<ByteRange> soon) {
  expected_ = std::move(soon);
  std::sort(expected_.begin(), expected_.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.lower < b.lower; });
}

void Guests::stop_watching() {
  watching_ = false;
  occupied_.clear();
}

}  // namespace stowage::runtime
