#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/stream_allocator.hpp"

/// Random programs on a device that executes work later, in any order that the streams allow: every block is written by
/// its own stream, read by that or other streams, and freed before any of this work has run. If its bytes were reused
/// too early, the block is read with wrong content.
namespace stowage {
namespace {

class Program {
 public:
  Program(std::size_t streams, std::uint32_t seed)
      : device_(SimDevice::make({.memory = Bytes(2 << 20), .granularity = Bytes(64 << 10)})),
        allocator_(std::make_unique<StreamAllocator>(
            *device_, StreamOptions{.least_page = Bytes(64 << 10), .checks = Checks::on})),
        streams_(streams),
        random_(seed) {}

  void run(std::size_t events) {
    for (std::size_t i = 0; i < events; ++i) {
      if (live_.size() > 12 || (random_() % 3 == 0 && !live_.empty()))
        free_one();
      else
        use_one();
      if (random_() % 2 == 0) device_->finish(any_stream(), 1 + random_() % 4);
      if (random_() % 64 == 0) allocator_->trim();
    }
    while (!live_.empty()) free_one();
    device_->finish_all();
    allocator_.reset();
    EXPECT_EQ(wrong_, 0U) << "reads of bytes that were another's";
    EXPECT_GT(read_, events / 8);
    EXPECT_EQ(device_->live_objects(), 0U);
    EXPECT_TRUE(device_->violations().empty());
  }

 private:
  struct Block {
    std::byte* address = nullptr;
    Bytes size;
    StreamId stream;
  };

  StreamId any_stream() { return StreamId(random_() % streams_); }

  void use_one() {
    const Bytes size(static_cast<std::int64_t>(1 + random_() % (random_() % 4 == 0 ? 300000U : 40000U)));
    const StreamId stream = any_stream();
    const Result<std::byte*> address = allocator_->allocate(size, stream);
    if (!address) {
      ASSERT_EQ(address.error().code, ErrorCode::out_of_memory) << address.error().message;
      return;
    }
    const Block block{*address, size, stream};
    const auto mark = static_cast<std::byte>(++marks_);
    write(block, mark);
    read(block, stream, mark);
    for (int others = static_cast<int>(random_() % 3); others > 0; --others) read_elsewhere(block, mark);
    live_.push_back(block);
  }

  void write(const Block& block, std::byte mark) {
    SimKernel kernel{.inputs = {}, .outputs = {{block.address, block.size}}, .compute = {}};
    kernel.compute = [mark](auto, std::span<std::vector<std::byte>> outputs) {
      std::fill(outputs[0].begin(), outputs[0].end(), mark);
    };
    ASSERT_TRUE(device_->launch_kernel(block.stream, std::move(kernel)));
  }

  void read(const Block& block, StreamId stream, std::byte mark) {
    SimKernel kernel{.inputs = {{block.address, block.size}}, .outputs = {}, .compute = {}};
    kernel.compute = [this, mark](std::span<const std::vector<std::byte>> inputs, auto) {
      ++read_;
      for (const std::byte one : inputs[0]) wrong_ += one != mark;
    };
    ASSERT_TRUE(device_->launch_kernel(stream, std::move(kernel)));
  }

  void read_elsewhere(const Block& block, std::byte mark) {
    const StreamId stream = any_stream();
    const Result<EventId> written = device_->record(block.stream);
    ASSERT_TRUE(written);
    ASSERT_TRUE(device_->wait(stream, *written));
    device_->forget(*written);
    read(block, stream, mark);
    ASSERT_TRUE(allocator_->record_use(block.address, stream));
  }

  void free_one() {
    std::swap(live_.back(), live_[random_() % live_.size()]);
    allocator_->free(live_.back().address, live_.back().size, live_.back().stream);
    live_.pop_back();
  }

  std::unique_ptr<SimDevice> device_;
  std::unique_ptr<StreamAllocator> allocator_;
  const std::size_t streams_;
  std::mt19937 random_;
  std::vector<Block> live_;
  std::uint8_t marks_ = 0;
  std::size_t read_ = 0;
  std::size_t wrong_ = 0;
};

TEST(RuntimeSchedule, DelayedWorkNeverReadsFreedBytes) {
  for (const std::size_t streams : {1U, 2U, 3U, 7U, 20U, 64U, 65U, 70U}) {
    for (std::uint32_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(testing::Message() << streams << " streams, seed " << seed);
      Program(streams, seed).run(600);
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace stowage
