#include "replay/planned_replay.hpp"

#include <utility>

#include "stowage/runtime/plan_ahead.hpp"
#include "stowage/runtime/stream_allocator.hpp"

namespace stowage::replaying {
namespace {

class PlannedReplay final : public Allocator {
 public:
  PlannedReplay(std::unique_ptr<StreamAllocator> fallback, std::unique_ptr<PlanAheadAllocator> planned,
                std::uint32_t length)
      : fallback_(std::move(fallback)), planned_(std::move(planned)), length_(length) {}

  [[nodiscard]] DeviceId device() const override { return planned_->device(); }
  [[nodiscard]] Bytes alignment() const override { return planned_->alignment(); }

  Result<std::byte*> allocate(Bytes size, StreamId stream) override {
    if (length_ > 0 && asked_ == 0) planned_->begin_iteration();
    if (length_ > 0) ++asked_;
    Result<std::byte*> address = planned_->allocate(size, stream);
    if (address && *address != nullptr) ++live_;
    return address;
  }

  void free(std::byte* address, Bytes size, StreamId stream) override {
    planned_->free(address, size, stream);
    if (address != nullptr) --live_;
    if (live_ > 0 || length_ == 0 || asked_ < length_) return;
    planned_->end_iteration();
    asked_ = 0;
  }

  Status record_use(std::byte* address, StreamId stream) override { return planned_->record_use(address, stream); }
  Bytes trim() override { return planned_->trim(); }
  [[nodiscard]] AllocatorStats stats() const override { return planned_->stats(); }
  void reset_peaks() override { planned_->reset_peaks(); }
  [[nodiscard]] MemorySnapshot snapshot() const override { return planned_->snapshot(); }

 private:
  std::unique_ptr<StreamAllocator> fallback_;  ///< Must outlive `planned_`.
  std::unique_ptr<PlanAheadAllocator> planned_;
  const std::uint32_t length_;  ///< Allocations per iteration; 0: no iterations.
  std::uint32_t asked_ = 0;     ///< Requests so far in this iteration.
  std::uint64_t live_ = 0;
};

}  // namespace

Result<std::unique_ptr<Allocator>> make_planned_replay(Device& device, const Trace* expected) {
  auto fallback = std::make_unique<StreamAllocator>(device);
  STOWAGE_TRY(std::unique_ptr<PlanAheadAllocator> planned, PlanAheadAllocator::make(device, *fallback));
  const std::uint32_t length = expected == nullptr ? 0 : expected->allocations;
  return std::unique_ptr<Allocator>(std::make_unique<PlannedReplay>(std::move(fallback), std::move(planned), length));
}

}  // namespace stowage::replaying
