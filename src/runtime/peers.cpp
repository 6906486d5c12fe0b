#include "runtime/peers.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace stowage::runtime {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<Peer*> peers;
};

/// Never destroyed: allocators may be destroyed after any static object of this file.
Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

}  // namespace

void Peer::join() {
  const std::lock_guard lock(registry().mutex);
  registry().peers.push_back(this);
}

void Peer::leave() {
  const std::lock_guard lock(registry().mutex);
  std::erase(registry().peers, this);
}

Bytes recycle_peers(Device& device, const Peer& asking) {
  Bytes returned(0);
  const std::lock_guard lock(registry().mutex);
  for (Peer* const peer : registry().peers) {
    if (peer == &asking || &peer->device_ != &device) continue;
    if (peer->thread_.value_or(std::this_thread::get_id()) != std::this_thread::get_id()) continue;
    returned += peer->recycle();
  }
  return returned;
}

}  // namespace stowage::runtime
