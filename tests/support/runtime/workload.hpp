#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/runtime/allocator.hpp"

namespace stowage::runtime {

/// Random allocations in host-visible memory, each filled with its own number: any other write into it is found when it
/// is freed. This also detects a stitch and a page that map the same bytes.
class MarkedWorkload {
 public:
  struct Options {
    Bytes budget;   ///< Of what is live.
    Bytes largest;  ///< Of one allocation.
    std::size_t streams = 1;
    std::uint32_t seed = 1;
  };
  struct Outcome {
    std::size_t granted = 0;
    std::size_t refused = 0;
  };

  MarkedWorkload(Allocator& allocator, Options options)
      : allocator_(allocator), options_(options), random_(options.seed) {}
  ~MarkedWorkload() { free_all(); }
  MarkedWorkload(const MarkedWorkload&) = delete;
  MarkedWorkload& operator=(const MarkedWorkload&) = delete;

  /// `on_refusal` is asked about every request that fails.
  template <class OnRefusal>
  Outcome run(std::size_t events, OnRefusal on_refusal) {
    Outcome outcome;
    for (std::size_t i = 0; i < events; ++i) {
      const Bytes size = draw_size();
      while (live_bytes_ + size > options_.budget && !live_.empty()) free_one();
      if (random_() % 3 == 0 && !live_.empty()) free_one();
      const StreamId stream(random_() % options_.streams);
      const Result<std::byte*> address = allocator_.allocate(size, stream);
      if (!address) {
        ++outcome.refused;
        on_refusal(size, address.error());
        continue;
      }
      ++outcome.granted;
      live_.push_back({*address, size, stream, ++number_});
      live_bytes_ += size;
      mark(live_.back());
    }
    return outcome;
  }

  void free_all() {
    while (!live_.empty()) free_one();
  }

 private:
  struct Block {
    std::byte* address = nullptr;
    Bytes size;
    StreamId stream;
    std::uint64_t number = 0;
  };
  static constexpr std::int64_t kStride = 512;

  Bytes draw_size() {
    const auto largest = static_cast<std::uint64_t>(options_.largest.value());
    const std::uint64_t scale = random_() % 3 == 0 ? largest : 1 + largest / (1 + random_() % 64);
    return Bytes(static_cast<std::int64_t>(1 + random_() % scale));
  }

  /// Every unit of it: one that overlaps in a single byte shares a unit.
  static void mark(const Block& block) {
    for (std::int64_t at = 0; at + 8 <= block.size.value(); at += kStride)
      std::memcpy(block.address + at, &block.number, 8);
  }
  static void check(const Block& block) {
    for (std::int64_t at = 0; at + 8 <= block.size.value(); at += kStride) {
      std::uint64_t found = 0;
      std::memcpy(&found, block.address + at, 8);
      ASSERT_EQ(found, block.number) << "byte " << at << " of " << block.size.value();
    }
  }

  void free_one() {
    std::swap(live_[random_() % live_.size()], live_.back());
    const Block block = live_.back();
    live_.pop_back();
    check(block);
    live_bytes_ -= block.size;
    allocator_.free(block.address, block.size, block.stream);
  }

  Allocator& allocator_;
  const Options options_;
  std::mt19937 random_;
  std::vector<Block> live_;
  Bytes live_bytes_;
  std::uint64_t number_ = 0;
};

}  // namespace stowage::runtime
