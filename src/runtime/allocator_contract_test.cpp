#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "support/runtime/contract.hpp"

/// Tests only what the interface promises; an allocator's footprint is not part of that.
namespace stowage::runtime {
namespace {

struct Held {
  std::byte* address;
  Bytes size;
  StreamId stream;
  std::uint8_t mark;  ///< The value of all its bytes.
};

std::uintptr_t number(const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// Sizes around the alignment and around powers of two.
std::vector<Bytes> edge_sizes(Bytes alignment) {
  std::vector<Bytes> sizes = {Bytes(1)};
  for (std::int64_t size = alignment.value(); size <= std::int64_t{4} << 20; size *= 2) {
    for (const std::int64_t difference : {-1, 0, 1}) {
      if (size + difference > 1) sizes.push_back(Bytes(size + difference));
    }
  }
  return sizes;
}

/// A user of an allocator that fills all its bytes with a mark.
class User {
 public:
  User(Allocator& allocator, Device& device) : allocator_(allocator), device_(device) {}
  ~User() { free_all(); }
  User(const User&) = delete;
  User& operator=(const User&) = delete;

  void allocate(Bytes size, StreamId stream = {}) {
    const Result<std::byte*> address = allocator_.allocate(size, stream);
    ASSERT_TRUE(address) << to_string(address.error());
    ASSERT_NE(*address, nullptr);
    held_.push_back({*address, size, stream, static_cast<std::uint8_t>(++count_ * 37)});
    requested_ += size;
    std::vector<std::byte> bytes(static_cast<std::size_t>(size.value()), std::byte{held_.back().mark});
    ASSERT_TRUE(device_.copy(stream, *address, bytes.data(), size));
    ASSERT_TRUE(device_.synchronize(stream));
  }

  /// Checks the content first.
  void free(std::size_t index) {
    const Held held = held_[index];
    held_[index] = held_.back();
    held_.pop_back();
    expect_content(held);
    requested_ -= held.size;
    allocator_.free(held.address, held.size, held.stream);
  }

  void free_all() {
    while (!held_.empty()) free(held_.size() - 1);
  }

  void expect_all_content() {
    for (const Held& held : held_) expect_content(held);
  }

  [[nodiscard]] const std::vector<Held>& held() const { return held_; }
  [[nodiscard]] Bytes requested() const { return requested_; }

 private:
  void expect_content(const Held& held) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(held.size.value()));
    ASSERT_TRUE(device_.copy(held.stream, bytes.data(), held.address, held.size));
    ASSERT_TRUE(device_.synchronize(held.stream));
    const auto wrong = std::find_if(bytes.begin(), bytes.end(), [&](std::byte b) { return b != std::byte{held.mark}; });
    ASSERT_EQ(wrong, bytes.end()) << "byte " << (wrong - bytes.begin()) << " of " << held.size.value();
  }

  Allocator& allocator_;
  Device& device_;
  std::vector<Held> held_;
  Bytes requested_;
  unsigned count_ = 0;
};

TEST_P(AllocatorContract, ZeroBytesAreNull) {
  const Result<std::byte*> address = allocator().allocate(Bytes(0), {});
  ASSERT_TRUE(address);
  EXPECT_EQ(*address, nullptr);
  allocator().free(nullptr, Bytes(0), {});
  EXPECT_EQ(allocator().stats().live, 0U);
  EXPECT_EQ(allocator().stats().requested, Bytes(0));
}

TEST_P(AllocatorContract, SizesBelowZeroAreInvalid) {
  for (const Bytes size : {Bytes(-1), Bytes(-4096), Bytes(0) - kMaxBytes}) {
    const Result<std::byte*> address = allocator().allocate(size, {});
    ASSERT_FALSE(address);
    EXPECT_EQ(address.error().code, ErrorCode::invalid);
  }
  EXPECT_EQ(allocator().stats().live, 0U);
}

TEST_P(AllocatorContract, WhatNoDeviceHasIsOutOfMemoryAndHarmsNothing) {
  User user(allocator(), device());
  user.allocate(Bytes(1000));
  const AllocatorStats before = allocator().stats();
  for (const Bytes size : {kMaxBytes, kMaxBytes - Bytes(1), Bytes(std::int64_t{1} << 61)}) {
    const Result<std::byte*> address = allocator().allocate(size, {});
    ASSERT_FALSE(address);
    EXPECT_EQ(address.error().code, ErrorCode::out_of_memory) << to_string(address.error());
    EXPECT_NE(address.error().message.find(std::to_string(size.value())), std::string::npos) << address.error().message;
  }
  const AllocatorStats after = allocator().stats();
  EXPECT_EQ(after.requested, before.requested);
  EXPECT_EQ(after.rounded, before.rounded);
  EXPECT_EQ(after.live, before.live);
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.failures, before.failures + 3);
  user.allocate(Bytes(1000));
  user.expect_all_content();
}

TEST_P(AllocatorContract, AddressesAreAligned) {
  const Bytes alignment = allocator().alignment();
  ASSERT_TRUE(is_power_of_two(alignment));
  User user(allocator(), device());
  for (const Bytes size : edge_sizes(alignment)) {
    ASSERT_NO_FATAL_FAILURE(user.allocate(size));
    EXPECT_EQ(number(user.held().back().address) % static_cast<std::uintptr_t>(alignment.value()), 0U);
  }
}

TEST_P(AllocatorContract, LiveBlocksDoNotOverlap) {
  User user(allocator(), device());
  for (const Bytes size : edge_sizes(allocator().alignment())) ASSERT_NO_FATAL_FAILURE(user.allocate(size));
  std::vector<Held> held = user.held();
  std::sort(held.begin(), held.end(),
            [](const Held& a, const Held& b) { return number(a.address) < number(b.address); });
  for (std::size_t i = 1; i < held.size(); ++i) {
    EXPECT_LE(number(held[i - 1].address) + static_cast<std::uintptr_t>(held[i - 1].size.value()),
              number(held[i].address));
  }
}

TEST_P(AllocatorContract, ContentStaysWhileOthersComeAndGo) {
  User user(allocator(), device());
  std::mt19937 random(7);
  const std::vector<Bytes> sizes = edge_sizes(allocator().alignment());
  for (int event = 0; event < 600; ++event) {
    const bool full = user.held().size() >= 40;
    if (!full && (user.held().empty() || random() % 5 < 3)) {
      const Bytes size =
          random() % 8 == 0 ? sizes[random() % sizes.size()] : Bytes(static_cast<std::int64_t>(1 + random() % 20000));
      ASSERT_NO_FATAL_FAILURE(user.allocate(size, StreamId(random() % GetParam().streams)));
    } else {
      ASSERT_NO_FATAL_FAILURE(user.free(random() % user.held().size()));
    }
    if (event % 200 == 150) allocator().trim();
    ASSERT_EQ(allocator().stats().requested, user.requested());
    ASSERT_EQ(allocator().stats().live, user.held().size());
  }
  user.expect_all_content();
}

TEST_P(AllocatorContract, FiguresFitTogether) {
  User user(allocator(), device());
  Bytes most;
  Bytes least_rounded;
  for (const Bytes size : {Bytes(1), Bytes(5000), Bytes(70000), Bytes(3)}) {
    ASSERT_NO_FATAL_FAILURE(user.allocate(size));
    most = std::max(most, user.requested());
    least_rounded += align_up(size, allocator().alignment());
  }
  const AllocatorStats full = allocator().stats();
  EXPECT_EQ(full.requested, Bytes(75004));
  EXPECT_GE(full.rounded, least_rounded);
  EXPECT_GE(full.reserved, full.rounded);
  EXPECT_EQ(full.live, 4U);
  EXPECT_EQ(full.allocations, 4U);
  EXPECT_EQ(full.failures, 0U);
  user.free_all();
  const AllocatorStats empty = allocator().stats();
  EXPECT_EQ(empty.requested, Bytes(0));
  EXPECT_EQ(empty.rounded, Bytes(0));
  EXPECT_EQ(empty.live, 0U);
  EXPECT_LE(empty.requested_peak, most);
  EXPECT_LE(empty.rounded_peak, full.rounded);
  if (GetParam().exact_peaks) {
    EXPECT_EQ(empty.requested_peak, most);
    EXPECT_EQ(empty.rounded_peak, full.rounded);
  }
  EXPECT_GE(empty.reserved_peak, full.reserved);
  EXPECT_GE(empty.waste(), 0.0);
  EXPECT_LT(empty.waste(), 1.0);
}

TEST_P(AllocatorContract, PeaksStartAnewFromWhatIsLive) {
  User user(allocator(), device());
  user.allocate(Bytes(100000));
  user.allocate(Bytes(300));
  user.free(0);
  EXPECT_FALSE(allocator().allocate(kMaxBytes, {}));
  allocator().reset_peaks();
  const AllocatorStats stats = allocator().stats();
  EXPECT_EQ(stats.requested_peak, Bytes(300));
  EXPECT_EQ(stats.rounded_peak, stats.rounded);
  EXPECT_EQ(stats.reserved_peak, stats.reserved);
  EXPECT_EQ(stats.live, 1U);
  EXPECT_EQ(stats.allocations, 0U);
  EXPECT_EQ(stats.failures, 0U);
  EXPECT_EQ(stats.creates + stats.releases + stats.maps + stats.unmaps + stats.access_calls + stats.event_waits, 0U);
  user.allocate(Bytes(700));
  EXPECT_EQ(allocator().stats().requested_peak, Bytes(1000));
  EXPECT_EQ(allocator().stats().allocations, 1U);
}

TEST_P(AllocatorContract, TrimSaysWhatItReturnsAndLeavesLiveBlocksAlone) {
  User user(allocator(), device());
  for (int i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(user.allocate(Bytes(300000)));
  for (int i = 0; i < 10; ++i) user.free(static_cast<std::size_t>(i));
  const Bytes before = allocator().stats().reserved;
  const Bytes returned = allocator().trim();
  const AllocatorStats after = allocator().stats();
  EXPECT_EQ(after.reserved, before - returned);
  EXPECT_GE(after.reserved, after.rounded);
  EXPECT_EQ(after.live, 10U);
  user.expect_all_content();
  EXPECT_EQ(allocator().trim(), Bytes(0)) << "nothing has become idle since";
}

TEST_P(AllocatorContract, OneSizeAgainAndAgainTakesNoMore) {
  User user(allocator(), device());
  Bytes reserved;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 3; ++i) ASSERT_NO_FATAL_FAILURE(user.allocate(Bytes(200000)));
    if (round == 1) reserved = allocator().stats().reserved;
    if (round > 1) {
      ASSERT_EQ(allocator().stats().reserved, reserved) << "round " << round;
    }
    user.free_all();
  }
}

TEST_P(AllocatorContract, UseOnItsOwnStreamCanBeRecorded) {
  User user(allocator(), device());
  user.allocate(Bytes(4096));
  EXPECT_TRUE(allocator().record_use(user.held().front().address, {}));
}

TEST_P(AllocatorContract, TheSnapshotShowsEveryLiveBlock) {
  User user(allocator(), device());
  for (const Bytes size : {Bytes(1), Bytes(5000), Bytes(70000), Bytes(3 << 20), Bytes(3)}) {
    ASSERT_NO_FATAL_FAILURE(user.allocate(size));
  }
  user.free(1);
  const MemorySnapshot snapshot = allocator().snapshot();
  EXPECT_EQ(snapshot.device, allocator().device());
  for (const Held& held : user.held()) {
    const Bytes rounded = align_up(held.size, allocator().alignment());
    const auto shows = [&](const MemorySnapshot::Block& block) {
      const bool right_size =
          block.requested == held.size || (!GetParam().exact_snapshot && block.requested == rounded);
      return block.address == held.address && block.state == MemorySnapshot::BlockState::live && right_size;
    };
    const auto count = std::count_if(snapshot.segments.begin(), snapshot.segments.end(), [&](const auto& segment) {
      return std::any_of(segment.blocks.begin(), segment.blocks.end(), shows);
    });
    EXPECT_EQ(count, 1) << "the block of " << held.size.value() << " bytes";
  }
}

TEST_P(AllocatorContract, TheBlocksOfASegmentFillIt) {
  User user(allocator(), device());
  for (const Bytes size : {Bytes(1), Bytes(5000), Bytes(70000), Bytes(3 << 20)})
    ASSERT_NO_FATAL_FAILURE(user.allocate(size));
  user.free(2);
  const MemorySnapshot snapshot = allocator().snapshot();
  ASSERT_FALSE(snapshot.segments.empty());
  for (const MemorySnapshot::Segment& segment : snapshot.segments) {
    const std::byte* end = segment.address;
    for (const MemorySnapshot::Block& block : segment.blocks) {
      EXPECT_EQ(block.address, end);
      EXPECT_GT(block.size, Bytes(0));
      const bool idle = block.state == MemorySnapshot::BlockState::idle;
      EXPECT_LE(block.requested, idle ? Bytes(0) : block.size);
      end = block.address + block.size.value();
    }
    EXPECT_EQ(end, segment.address + segment.size.value());
  }
}

}  // namespace
}  // namespace stowage::runtime
