#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "stowage/memory.hpp"

namespace stowage::runtime {

/// Work of other streams on what a slot holds, as `record_use` says it. Once the slot is free, whoever gets its bytes waits for
/// that work. Not thread-safe. Forgets its events at the end.
class ForeignUses {
 public:
  explicit ForeignUses(Device& device) : device_(device) {}
  ~ForeignUses();
  ForeignUses(const ForeignUses&) = delete;
  ForeignUses& operator=(const ForeignUses&) = delete;

  void used(std::uint32_t slot, StreamId stream);
  /// The slot is free from now on, but for work that was submitted. False: the device cannot say when that ends, so that nobody
  /// may have the bytes.
  [[nodiscard]] bool freed(std::uint32_t slot, ByteRange bytes);
  /// What is submitted to `stream` from now on happens after foreign uses of the bytes. False: the device failed.
  [[nodiscard]] bool order(ByteRange bytes, StreamId stream);

  [[nodiscard]] bool none_live() const { return live_.empty(); }
  [[nodiscard]] bool none_pending() const { return pending_.empty(); }
  /// Every stream that is known to use something; for waiting at the end.
  [[nodiscard]] const std::vector<StreamId>& streams() const { return streams_; }

 private:
  struct Pending {
    ByteRange bytes;
    EventId event;
  };
  Device& device_;
  std::unordered_map<std::uint32_t, std::vector<StreamId>> live_;  ///< By slot.
  std::vector<Pending> pending_;
  std::vector<StreamId> streams_;
};

}  // namespace stowage::runtime
