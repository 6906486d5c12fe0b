#include "runtime/heap/page_uses.hpp"

#include <algorithm>

namespace stowage::runtime {

PageUses::PageUses(const IdleMap& idle, const PagesByAddress& pages, const ExpandableArena& arena) {
  for (const auto& [address, id] : pages) {
    if (uses_.size() <= id.index()) uses_.resize(id.index() + 1);
    uses_[id.index()] = {.address = address, .size = arena.page(id).size, .prefix = {}, .suffix = {}, .extent = {}};
    ids_.push_back(id);
  }
  std::size_t next = 0;
  for (const IdleRun& run : idle.runs()) look_at(run, next);
}

/// Called for the runs in address order. `next` is the first page that does not end before the run.
void PageUses::look_at(const IdleRun& run, std::size_t& next) {
  const auto page_at = [&](std::size_t i) -> PageUse& { return uses_[ids_[i].index()]; };
  const auto end_of = [](const PageUse& page) { return page.address + page.size.value(); };
  while (next < ids_.size() && end_of(page_at(next)) <= run.address) ++next;
  for (std::size_t i = next; i < ids_.size() && page_at(i).address < run.end(); ++i) {
    PageUse& page = page_at(i);
    std::byte* const end = end_of(page);
    if (run.address <= page.address) page.prefix = Bytes(std::min(run.end(), end) - page.address);
    if (run.end() >= end) page.suffix = Bytes(end - std::max(run.address, page.address));
    page.extent = run.size;
  }
}

std::vector<PageId> PageUses::idle() const {
  std::vector<PageId> idle;
  for (const PageId id : ids_) {
    if (uses_[id.index()].idle()) idle.push_back(id);
  }
  // Ties in extent keep address order, as sorting by (extent, address) would.
  std::ranges::sort(idle, [&](PageId a, PageId b) {
    const PageUse& left = uses_[a.index()];
    const PageUse& right = uses_[b.index()];
    return left.extent != right.extent ? left.extent > right.extent : left.address < right.address;
  });
  return idle;
}

Bytes PageUses::idle_bytes() const {
  Bytes sum(0);
  for (const PageId id : ids_) {
    if (uses_[id.index()].idle()) sum += uses_[id.index()].size;
  }
  return sum;
}

}  // namespace stowage::runtime
