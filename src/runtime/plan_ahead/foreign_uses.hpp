#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "stowage/memory.hpp"

namespace stowage::runtime {

/// Work of other streams that uses an allocation, as reported by `record_use`. After the allocation is freed, the next
/// users of its bytes wait for that work. An allocation is identified by its lowest offset, which is unique among live
/// allocations. Not thread-safe. The destructor forgets the events.
class ForeignUses {
 public:
  explicit ForeignUses(Device& device) : device_(device) {}
  ~ForeignUses();
  ForeignUses(const ForeignUses&) = delete;
  ForeignUses& operator=(const ForeignUses&) = delete;

  void used(Bytes offset, StreamId stream);
  /// The allocation is freed, except for work already submitted. Returns false if the device cannot say when that work
  /// ends; then the bytes must not be reused.
  [[nodiscard]] bool freed(ByteRange bytes);
  /// Orders later work of `stream` after the foreign uses of these bytes. Returns false if the device failed.
  [[nodiscard]] bool order(ByteRange bytes, StreamId stream);

  [[nodiscard]] bool none_live() const { return live_.empty(); }
  [[nodiscard]] bool none_pending() const { return pending_.empty(); }
  /// Every stream that has used something, for waiting at the end.
  [[nodiscard]] const std::vector<StreamId>& streams() const { return streams_; }

 private:
  struct Pending {
    ByteRange bytes;
    EventId event;
  };
  Device& device_;
  std::map<Bytes, std::vector<StreamId>> live_;  ///< By offset.
  /// Has capacity for all live uses, so that a free allocates no host memory.
  std::vector<Pending> pending_;
  std::size_t live_uses_ = 0;  ///< Streams in `live_`.
  std::vector<StreamId> streams_;
};

}  // namespace stowage::runtime
