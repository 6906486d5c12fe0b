#include "stowage/runtime/physical_pool.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/exiting.hpp"

namespace stowage {

PhysicalPool::PhysicalPool(VirtualMemory& memory, std::optional<Bytes> limit) : memory_(memory), limit_(limit) {
  runtime::process_is_exiting();
}

PhysicalPool::~PhysicalPool() {
  if (runtime::process_is_exiting()) return;
  STOWAGE_CHECK(counts_.created == counts_.idle, "a pool of physical memory must outlive all users of its pages");
  trim();
}

Result<Page> PhysicalPool::allocate(Bytes size) {
  const std::lock_guard lock(mutex_);
  if (const auto found = idle_.find(size); found != idle_.end()) {
    const Page page{found->second.back(), size};
    found->second.pop_back();
    if (found->second.empty()) idle_.erase(found);
    counts_.idle -= size;
    return page;
  }
  STOWAGE_TRY_STATUS(make_room(size));
  Result<Page> page = create(size);
  while (!page && page.error().code == ErrorCode::out_of_memory && trim_locked(size) > Bytes(0)) page = create(size);
  return page;
}

Status PhysicalPool::make_room(Bytes size) {
  if (size <= Bytes(0) || size.value() % memory_.granularity().value() != 0) {
    return Error{ErrorCode::invalid,
                 fmt::format("physical memory: a page of {} bytes is not a multiple of {}", size.value(),
                             memory_.granularity().value()),
                 {}};
  }
  if (!limit_) return Done{};
  const Bytes in_use = counts_.created - counts_.idle;
  if (size > *limit_ - in_use) {  // releasing idle pages would not help, so none is released
    return Error{ErrorCode::out_of_memory,
                 fmt::format("physical memory: {} bytes requested; {} of {} are in use, {} are idle", size.value(),
                             in_use.value(), limit_->value(), counts_.idle.value()),
                 {}};
  }
  const Bytes room = *limit_ - counts_.created;
  if (size > room) trim_locked(size - room);
  return Done{};
}

Result<Page> PhysicalPool::create(Bytes size) {
  STOWAGE_TRY(const PhysicalId physical, memory_.create(size));
  ++counts_.creates;
  counts_.created += size;
  counts_.created_peak = std::max(counts_.created_peak, counts_.created);
  return Page{physical, size};
}

void PhysicalPool::free(Page page) {
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
    if (!memory_.release(physical)) break;  // the device failed and still has it, so we keep it too
    returned += largest->first;
    counts_.created -= largest->first;
    counts_.idle -= largest->first;
    ++counts_.releases;
    largest->second.pop_back();
    if (largest->second.empty()) idle_.erase(largest);
  }
  return returned;
}

std::optional<Bytes> PhysicalPool::room() const {
  const std::lock_guard lock(mutex_);
  if (!limit_) return std::nullopt;
  return *limit_ - (counts_.created - counts_.idle);
}

void PhysicalPool::write_off(Bytes size) {
  const std::lock_guard lock(mutex_);
  counts_.created -= size;
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
