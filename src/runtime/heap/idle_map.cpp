#include "runtime/heap/idle_map.hpp"

#include <algorithm>
#include <iterator>

namespace stowage::runtime {

IdleMap::IdleMap(std::span<SpanHeap* const> heaps) {
  for (SpanHeap* const heap : heaps) {
    heap->for_each([&](const Span& span) {
      if (span.state == SpanState::idle) parts_.push_back({span.address, span.size, heap});
    });
  }
  if (heaps.size() > 1) std::ranges::sort(parts_, {}, &IdlePart::address);
  for (const IdlePart& part : parts_) {
    if (!runs_.empty() && runs_.back().end() == part.address)
      runs_.back().size += part.size;
    else
      runs_.push_back({part.address, part.size});
  }
}

namespace {

/// Inserts a range into a list in address order, and merges it with adjacent ranges for which `joins` is true.
template <class Stretch, class Joins>
void insert(std::vector<Stretch>& all, const Stretch& added, const Joins& joins) {
  auto at = std::ranges::partition_point(all, [&](const Stretch& each) { return each.address < added.address; });
  if (at != all.begin() && std::prev(at)->end() == added.address && joins(*std::prev(at)))
    (--at)->size += added.size;
  else
    at = all.insert(at, added);
  const auto next = std::next(at);
  if (next == all.end() || at->end() != next->address || !joins(*next)) return;
  at->size += next->size;
  all.erase(next);
}

}  // namespace

void IdleMap::add(const IdlePart& part) {
  insert(parts_, part, [&](const IdlePart& neighbour) { return neighbour.owner == part.owner; });
  insert(runs_, IdleRun{part.address, part.size}, [](const IdleRun&) { return true; });
}

std::optional<IdleRun> IdleMap::tightest(Bytes size) const {
  std::optional<IdleRun> best;
  for (const IdleRun& run : runs_) {
    if (run.size >= size && (!best || run.size < best->size)) best = run;
  }
  return best;
}

Bytes IdleMap::ending_at(const std::byte* address) const {
  const auto run = std::ranges::find_if(runs_, [&](const IdleRun& candidate) { return candidate.end() == address; });
  return run == runs_.end() ? Bytes(0) : run->size;
}

std::vector<IdlePart> IdleMap::within(const std::byte* address, Bytes size) const {
  std::vector<IdlePart> found;
  const std::byte* const end = address + size.value();
  auto part =
      std::ranges::partition_point(parts_, [&](const IdlePart& candidate) { return candidate.end() <= address; });
  for (; part != parts_.end() && part->address < end; ++part) {
    std::byte* const from = std::max(part->address, const_cast<std::byte*>(address));
    found.push_back({from, Bytes(std::min<const std::byte*>(part->end(), end) - from), part->owner});
  }
  return found;
}

}  // namespace stowage::runtime
