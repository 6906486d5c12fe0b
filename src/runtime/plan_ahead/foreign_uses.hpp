#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "stowage/memory.hpp"

namespace stowage::runtime {

/// Work of other streams on what an allocation holds, as `record_use` says it. Once that is free, whoever gets its
/// bytes waits for the work. An allocation is known by its lowest byte, which no other has while it lives. Not
/// thread-safe. Forgets its events at the end.
class ForeignUses {
 public:
  explicit ForeignUses(Device& device) : device_(device) {}
  ~ForeignUses();
  ForeignUses(const ForeignUses&) = delete;
  ForeignUses& operator=(const ForeignUses&) = delete;

  void used(Bytes offset, StreamId stream);
  /// The bytes are free from now on, except for work that was submitted. False: the device cannot say when that ends,
  /// so that nobody may have the bytes.
  [[nodiscard]] bool freed(ByteRange bytes);
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
  std::map<Bytes, std::vector<StreamId>> live_;  ///< By offset.
  std::vector<Pending> pending_;  ///< With room for all uses that are live: a free takes no memory of the host.
  std::size_t live_uses_ = 0;     ///< Streams in `live_`.
  std::vector<StreamId> streams_;
};

}  // namespace stowage::runtime
