#include "runtime/heap/unpaged_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "runtime/exiting.hpp"

namespace stowage::runtime {

UnpagedMemory::~UnpagedMemory() {
  if (process_is_exiting()) abandon();
}

void UnpagedMemory::abandon() {
  for (std::unique_ptr<Buffer>& buffer : buffers_) keep_for_ever(std::move(buffer));
  buffers_.clear();
}

Result<UnpagedRun> UnpagedMemory::allocate(Bytes size) {
  const Bytes spare = alignment_ + alignment_;  // one to align the base, one to leave a gap
  if (limit_ && size + spare > *limit_ - reserved_) {
    return Error{
        ErrorCode::out_of_memory, fmt::format("{} of {} bytes are in use", reserved_.value(), limit_->value()), {}};
  }
  STOWAGE_TRY(std::unique_ptr<Buffer> buffer, type_.allocate(size + spare));
  ++counts_.creates;
  reserved_ += buffer->size();
  buffers_.push_back(std::move(buffer));
  return run_of(*buffers_.back());
}

UnpagedRun UnpagedMemory::run_of(const Buffer& buffer) const {
  const auto base = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(buffer.base()));
  const Bytes skew = align_up(Bytes(base), alignment_) - Bytes(base);
  const std::int64_t units = (buffer.size() - skew).value() / alignment_.value() - 1;
  return {buffer.base() + skew.value(), Bytes(units * alignment_.value())};
}

std::vector<UnpagedRun> UnpagedMemory::runs() const {
  std::vector<UnpagedRun> runs;
  for (const auto& buffer : buffers_) runs.push_back(run_of(*buffer));
  return runs;
}

Bytes UnpagedMemory::free(const std::byte* address) {
  const auto found =
      std::ranges::find_if(buffers_, [&](const auto& buffer) { return run_of(*buffer).address == address; });
  const Bytes size = (*found)->size();
  reserved_ -= size;
  ++counts_.releases;
  buffers_.erase(found);
  return size;
}

}  // namespace stowage::runtime
