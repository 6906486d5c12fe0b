#pragma once

#include <deque>
#include <set>
#include <vector>

#include "stowage/memory.hpp"

namespace stowage::replaying {

struct TorchPool;

/// A part of a segment: live, idle, or waiting for streams. The blocks of a segment form a chain in address order.
struct TorchBlock {
  std::byte* address = nullptr;
  Bytes size;
  Bytes requested;  ///< While live.
  TorchPool* pool = nullptr;
  TorchBlock* before = nullptr;
  TorchBlock* after = nullptr;
  bool live = false;
  bool mapped = true;               ///< False: only addresses, in an expandable segment.
  int pending = 0;                  ///< Events to wait for after the free.
  std::vector<StreamId> uses = {};  ///< By other streams, while live.

  /// Neither live nor waiting.
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

/// The memory of one stream for requests up to 1 MiB, or for those above.
struct TorchPool {
  StreamId stream;
  bool small = false;
  std::set<TorchBlock*, TorchBySize> idle = {};
  std::set<TorchBlock*, TorchByAddress> unmapped = {};
};

/// Owns all blocks and recycles those that are no longer needed.
class TorchBlocks {
 public:
  TorchBlock& make(TorchPool& pool, std::byte* address, Bytes size) {
    if (unused_.empty()) unused_.push_back(&all_.emplace_back());
    TorchBlock& block = *unused_.back();
    unused_.pop_back();
    block = {.address = address, .size = size, .requested = {}, .pool = &pool};
    return block;
  }

  /// Also removes it from its chain.
  void drop(TorchBlock& block) {
    if (block.before != nullptr) block.before->after = block.after;
    if (block.after != nullptr) block.after->before = block.before;
    block = {};
    unused_.push_back(&block);
  }

  /// Shortens `block` to `size`; the rest becomes a new block after it.
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

  /// The first block of every chain, in address order.
  [[nodiscard]] std::vector<const TorchBlock*> heads() const;

 private:
  std::deque<TorchBlock> all_;
  std::vector<TorchBlock*> unused_;
};

}  // namespace stowage::replaying
