#include "stowage/runtime/physical_pool.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stowage {

PhysicalPool::PhysicalPool(VirtualMemory& memory, Options options) : memory_(memory), options_(options) {}

PhysicalPool::~PhysicalPool() {
  trim();
  STOWAGE_CHECK(counts_.created == Bytes(0), "a pool of physical memory outlives whatever has pages of it");
}

Result<Page> PhysicalPool::acquire(Bytes size) {
  const std::lock_guard lock(mutex_);
  if (const auto found = idle_.find(size); found != idle_.end()) {
    const Page page{found->second.back(), size};
    found->second.pop_back();
    if (found->second.empty()) idle_.erase(found);
    counts_.idle -= size;
    return page;
  }
  Result<Page> page = create(size);
  while (!page && page.error().code == ErrorCode::out_of_memory && trim_locked(size) > Bytes(0)) page = create(size);
  return page;
}

Result<Page> PhysicalPool::create(Bytes size) {
  if (options_.limit && size > *options_.limit - counts_.created) {
    return Error{ErrorCode::out_of_memory,
                 fmt::format("physical memory: {} bytes were asked for; {} of {} are in use, {} of them idle", size.value(),
                             counts_.created.value(), options_.limit->value(), counts_.idle.value()),
                 {}};
  }
  STOWAGE_TRY(const PhysicalId physical, memory_.create(size));
  ++counts_.creates;
  counts_.created += size;
  counts_.created_peak = std::max(counts_.created_peak, counts_.created);
  return Page{physical, size};
}

void PhysicalPool::give_back(Page page) {
  const std::lock_guard lock(mutex_);
  idle_[page.size].push_back(page.physical);
  counts_.idle += page.size;
}

Bytes PhysicalPool::trim(Bytes wanted) {
  const std::lock_guard lock(mutex_);
  return trim_locked(wanted);
}

Bytes PhysicalPool::trim_locked(Bytes wanted) {
  Bytes returned(0);
  while (returned < wanted && !idle_.empty()) {
    const auto largest = std::prev(idle_.end());
    const PhysicalId physical = largest->second.back();
    const Status released = memory_.release(physical);
    STOWAGE_CHECK(released.has_value(), "a device takes back what it gave");
    returned += largest->first;
    counts_.created -= largest->first;
    counts_.idle -= largest->first;
    ++counts_.releases;
    largest->second.pop_back();
    if (largest->second.empty()) idle_.erase(largest);
  }
  return returned;
}

PhysicalPool::Counts PhysicalPool::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void PhysicalPool::reset_peaks() {
  const std::lock_guard lock(mutex_);
  counts_.created_peak = counts_.created;
  counts_.creates = counts_.releases = 0;
}

}  // namespace stowage
