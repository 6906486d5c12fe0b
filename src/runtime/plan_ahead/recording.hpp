#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::runtime {

/// One allocation of a recorded iteration. Time is counted in allocations and frees of the iteration.
struct RecordedAllocation {
  Bytes size;  ///< Rounded to the alignment.
  StreamId stream;
  Interval life;  ///< From its allocation to its free; ends at `kNever` if it outlives the iteration.

  friend bool operator==(const RecordedAllocation&, const RecordedAllocation&) = default;
};

/// Records what an iteration allocates and frees. Not thread-safe.
class Recording {
 public:
  void allocated(std::byte* address, Bytes size, StreamId stream) {
    live_.insert_or_assign(address, allocations_.size());
    allocations_.push_back({size, stream, {now_, kNever}});
    now_ += Step(1);
  }

  /// Ignores allocations from before the iteration.
  void freed(std::byte* address) {
    const auto found = live_.find(address);
    if (found == live_.end()) return;
    allocations_[found->second].life.upper = now_;
    live_.erase(found);
    now_ += Step(1);
  }

  [[nodiscard]] const std::vector<RecordedAllocation>& allocations() const { return allocations_; }

 private:
  std::vector<RecordedAllocation> allocations_;
  std::unordered_map<std::byte*, std::size_t> live_;
  Step now_{0};
};

}  // namespace stowage::runtime
