#pragma once

#include <optional>
#include <thread>

#include "stowage/memory.hpp"

/// The allocators of a device. If one of them is out of memory,
/// it asks the others to return memory that they do not use.
namespace stowage::runtime {

class Peer {
 public:
  /// Returns idle memory to the device and says how much; waits for streams if necessary. Called by other allocators.
  virtual Bytes recycle() = 0;

 protected:
  /// `thread`: the only thread that may call `recycle`; absent: any thread.
  Peer(Device& device, std::optional<std::thread::id> thread) : device_(device), thread_(thread) {}
  virtual ~Peer() { leave(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  /// From now on `recycle` may be called. Must be the last thing that a derived class's constructor does.
  void join();
  /// Waits for a `recycle` in progress; afterwards there are no more. Must be the first thing that a derived class's
  /// destructor does.
  void leave();

 private:
  friend Bytes recycle_peers(Device& device, const Peer& asking);

  Device& device_;
  const std::optional<std::thread::id> thread_;
};

/// Asks every other peer of the device that this thread may call to return its idle memory. Precondition: the caller
/// holds no lock that a peer's `recycle` may need.
Bytes recycle_peers(Device& device, const Peer& asking);

}  // namespace stowage::runtime
