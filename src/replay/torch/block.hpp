#pragma once

#include <deque>
#include <set>
#include <vector>

#include "stowage/memory.hpp"

namespace stowage::replaying {

struct TorchPool;

/// A stretch of a segment: live, idle, or waiting for streams. The stretches of a segment form a chain in the order of
/// addresses.
struct TorchBlock {
  std::byte* address = nullptr;
  Bytes size;
  Bytes requested;  ///< While live.
  TorchPool* pool = nullptr;
  TorchBlock* before = nullptr;
  TorchBlock* after = nullptr;
  bool live = false;
  bool mapped = true;               ///< False: addresses only, of a segment that can expand.
  int pending = 0;                  ///< Events to wait for, once freed.
  std::vector<StreamId> uses = {};  ///< Of other streams, while live.

  /// Neither in use nor waiting.
  [[nodiscard]] bool idle() const { return !live && pending == 0; }
};

struct TorchBySize {
  bool operator()(const TorchBlock* a, const TorchBlock* b) const {
    return a->size != b->size ? a->size < b->size : a->address < b->address;
  }
};
struct TorchByAddress {
  bool operator()(const TorchBlock* a, const TorchBlock* b) const { return a->address < b->address; }
};

/// What one stream has for requests up to 1 MiB, or for those above.
struct TorchPool {
  StreamId stream;
  bool small = false;
  std::set<TorchBlock*, TorchBySize> idle = {};
  std::set<TorchBlock*, TorchByAddress> unmapped = {};
};

/// Owns blocks; gives those that are not needed any more out again.
class TorchBlocks {
 public:
  TorchBlock& make(TorchPool& pool, std::byte* address, Bytes size) {
    if (unused_.empty()) unused_.push_back(&all_.emplace_back());
    TorchBlock& block = *unused_.back();
    unused_.pop_back();
    block = {.address = address, .size = size, .requested = {}, .pool = &pool};
    return block;
  }

  /// Takes it out of its chain too.
  void drop(TorchBlock& block) {
    if (block.before != nullptr) block.before->after = block.after;
    if (block.after != nullptr) block.after->before = block.before;
    block = {};
    unused_.push_back(&block);
  }

  /// Cuts `block` down to `size`; the rest is a new one behind it.
  TorchBlock& split(TorchBlock& block, Bytes size) {
    TorchBlock& rest = make(*block.pool, block.address + size.value(), block.size - size);
    rest.mapped = block.mapped;
    rest.before = &block;
    rest.after = block.after;
    if (rest.after != nullptr) rest.after->before = &rest;
    block.after = &rest;
    block.size = size;
    return rest;
  }

  /// The first of every chain, in the order of addresses.
  [[nodiscard]] std::vector<const TorchBlock*> heads() const;

 private:
  std::deque<TorchBlock> all_;
  std::vector<TorchBlock*> unused_;
};

}  // namespace stowage::replaying
