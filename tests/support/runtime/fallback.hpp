#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "stowage/memory.hpp"
#include "stowage/runtime/allocator.hpp"

namespace stowage::runtime {

/// The plainest allocator that keeps the contract: a buffer for each allocation, kept for the next one of the same size
/// and stream. Trimming returns buffers whose stream is done with them.
class TestFallback final : public Allocator {
 public:
  explicit TestFallback(Device& device) : device_(device) {}
  ~TestFallback() override {
    for (Idle& idle : idle_) {
      static_cast<void>(device_.synchronize(idle.stream));
      if (idle.event) device_.forget(*idle.event);
    }
  }

  [[nodiscard]] DeviceId device() const override { return device_.id(); }
  [[nodiscard]] Bytes alignment() const override { return device_.buffer_type().alignment(); }

  Result<std::byte*> allocate(Bytes size, StreamId stream) override {
    if (size == Bytes(0)) return nullptr;
    auto found = idle_.begin();
    while (found != idle_.end() && (found->buffer->size() != size || found->stream != stream)) ++found;
    std::unique_ptr<Buffer> buffer;
    if (found != idle_.end()) {
      buffer = std::move(found->buffer);
      if (found->event) device_.forget(*found->event);
      *found = std::move(idle_.back());
      idle_.pop_back();
    } else {
      Result<std::unique_ptr<Buffer>> made = device_.buffer_type().allocate(size);
      if (!made) {
        ++stats_.failures;
        return made.error();
      }
      buffer = std::move(*made);
      stats_.reserved += size;
      stats_.reserved_peak = std::max(stats_.reserved_peak, stats_.reserved);
      ++stats_.creates;
    }
    std::byte* const address = buffer->base();
    live_.emplace(address, std::move(buffer));
    ++stats_.allocations;
    return address;
  }

  void free(std::byte* address, Bytes, StreamId stream) override {
    const auto found = live_.find(address);
    STOWAGE_CHECK(found != live_.end(), "the fallback is given back what it gave");
    for (const StreamId user : uses_[address]) static_cast<void>(device_.synchronize(user));
    uses_.erase(address);
    const Result<EventId> event = device_.record(stream);
    if (!event) static_cast<void>(device_.synchronize(stream));
    idle_.push_back({std::move(found->second), stream, event ? std::optional(*event) : std::nullopt});
    live_.erase(found);
  }

  Status record_use(std::byte* address, StreamId stream) override {
    if (!live_.contains(address)) return Error{ErrorCode::invalid, "not an allocation", {}};
    uses_[address].push_back(stream);
    return Done{};
  }

  Bytes trim() override {
    Bytes returned(0);
    std::vector<Idle> kept;
    for (Idle& idle : idle_) {
      if (idle.event && !device_.is_complete(*idle.event).value()) {
        kept.push_back(std::move(idle));
        continue;
      }
      if (idle.event) device_.forget(*idle.event);
      returned += idle.buffer->size();
      ++stats_.releases;
    }
    idle_ = std::move(kept);
    stats_.reserved -= returned;
    return returned;
  }

  [[nodiscard]] AllocatorStats stats() const override { return stats_; }
  void reset_peaks() override {
    const Bytes reserved = stats_.reserved;
    stats_ = {};
    stats_.reserved = stats_.reserved_peak = reserved;
  }
  [[nodiscard]] MemorySnapshot snapshot() const override { return {.device = device_.id(), .segments = {}}; }

  [[nodiscard]] std::size_t live() const { return live_.size(); }

 private:
  struct Idle {
    std::unique_ptr<Buffer> buffer;
    StreamId stream;
    std::optional<EventId> event;  ///< Absent: the stream is done with it.
  };
  Device& device_;
  std::map<std::byte*, std::unique_ptr<Buffer>> live_;
  std::map<std::byte*, std::vector<StreamId>> uses_;
  std::vector<Idle> idle_;
  AllocatorStats stats_;
};

}  // namespace stowage::runtime
