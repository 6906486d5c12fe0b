#include "runtime/plan_ahead/planned_range.hpp"

#include <algorithm>
#include <utility>

#include "runtime/exiting.hpp"

namespace stowage::runtime {
namespace {

/// Per byte, large pages are cheap. Above this size there is no gain, and the device may fail to find the memory.
constexpr Bytes kLargestPage{std::int64_t{1} << 30};

std::byte* aligned(std::byte* address, Bytes alignment) {
  const auto value = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address));
  return address + (align_up(Bytes(value), alignment).value() - value);
}

}  // namespace

Result<std::unique_ptr<PlannedRange>> PlannedRange::take(const Source& source, Bytes size) {
  std::unique_ptr<PlannedRange> range(new PlannedRange(source));
  STOWAGE_TRY_STATUS(source.pool != nullptr ? range->take_pages(size) : range->take_buffer(size));
  return range;
}

Status PlannedRange::take_pages(Bytes size) {
  VirtualMemory& memory = source_.pool->memory();
  const Bytes slack = source_.alignment > memory.granularity() ? source_.alignment : Bytes(0);
  const Bytes wanted = align_up(size + slack, memory.granularity());
  STOWAGE_TRY(reserved_, memory.reserve(wanted));
  reserved_size_ = wanted;
  while (size_ < wanted)
    STOWAGE_TRY_STATUS(add_page(std::min(wanted - size_, std::max(kLargestPage, memory.granularity()))));
  base_ = aligned(reserved_, source_.alignment);
  return Done{};
}

Status PlannedRange::add_page(Bytes size) {
  STOWAGE_TRY(const Page page, source_.pool->allocate(size));
  const Status mapped = source_.pool->memory().map(reserved_ + size_.value(), page.physical, Bytes(0), page.size);
  if (!mapped) {
    source_.pool->free(page);
    source_.pool->trim(page.size);
    return mapped;
  }
  pages_.push_back(page);
  size_ += page.size;
  return Done{};
}

Status PlannedRange::take_buffer(Bytes size) {
  STOWAGE_TRY(buffer_, source_.device->buffer_type().allocate(size + source_.alignment));
  base_ = aligned(buffer_->base(), source_.alignment);
  size_ = buffer_->size();
  return Done{};
}

PlannedRange::PlannedRange(const Source& source) : source_(source) { process_is_exiting(); }

PlannedRange::~PlannedRange() {
  if (leave_mapped_ && buffer_ != nullptr) keep_for_ever(std::shared_ptr<Buffer>(std::move(buffer_)));
  if (process_is_exiting()) return;
  if (source_.pool == nullptr || reserved_ == nullptr) return;
  VirtualMemory& memory = source_.pool->memory();
  // Two attempts: a device that failed once may succeed the next time.
  const bool unmapped =
      !leave_mapped_ && (size_ == Bytes(0) || memory.unmap(reserved_, size_) || memory.unmap(reserved_, size_));
  for (const Page page : pages_) source_.pool->free(page);
  source_.pool->trim(size_);
  if (unmapped && !memory.free(reserved_, reserved_size_)) return;  // a destructor cannot fail
}

}  // namespace stowage::runtime
