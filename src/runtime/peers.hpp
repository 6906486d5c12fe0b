#pragma once

#include <optional>
#include <thread>

#include "stowage/memory.hpp"

/// The allocators of a device, so that one that is out of memory can have the others return what they do not use.
namespace stowage::runtime {

class Peer {
 public:
  /// Returns idle memory to the device, waiting for its streams if need be; says how much. Called from other
  /// allocators' calls.
  virtual Bytes recycle() = 0;

 protected:
  /// `thread`: the only one that may call it; absent: any.
  Peer(Device& device, std::optional<std::thread::id> thread) : device_(device), thread_(thread) {}
  virtual ~Peer() { leave(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  /// From now on `recycle` may be called: the last thing that a derived class's constructor does.
  void join();
  /// Waits for a `recycle` of this peer that is under way, and no other comes: the first thing that a derived class's
  /// destructor does.
  void leave();

 private:
  friend Bytes recycle_peers(Device& device, const Peer& asking);

  Device& device_;
  const std::optional<std::thread::id> thread_;
};

/// Has every other peer of the device that this thread may call return its idle memory. The caller holds no lock that a
/// peer's `recycle` may want.
Bytes recycle_peers(Device& device, const Peer& asking);

}  // namespace stowage::runtime
