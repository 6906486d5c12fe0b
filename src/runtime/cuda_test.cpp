#include "stowage/memory/cuda.hpp"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/runtime/caching_allocator.hpp"
#include "stowage/runtime/plan_ahead.hpp"
#include "stowage/runtime/stream_allocator.hpp"
#include "support/runtime/contract.hpp"

/// The runtime on CUDA: always on the fake driver, and on a real GPU if there is one (docs/cuda.md).
namespace stowage::runtime {
namespace {

std::shared_ptr<CudaDevice> make_device() { return CudaDevice::make().value(); }

template <class A, class Options>
AllocatorKind on_cuda(std::string name, Options options, std::size_t streams = 1) {
  return {std::move(name),
          [options] {
            const std::shared_ptr<CudaDevice> device = make_device();
            return Subject{device, std::make_shared<A>(*device, options), device.get()};
          },
          streams};
}

INSTANTIATE_TEST_SUITE_P(Cuda, AllocatorContract,
                         ::testing::Values(on_cuda<CachingAllocator>("caching", CachingOptions{}),
                                           sampled(on_cuda<StreamAllocator>("stream", StreamOptions{}, 3))),
                         kind_name);

/// Random blocks on several streams, each filled with its number, close to the memory limit, so that pages are
/// stitched, moved between streams and trimmed all the time.
class CudaWorkload {
 public:
  CudaWorkload(CudaDevice& device, Allocator& allocator, std::uint32_t seed)
      : device_(device), allocator_(allocator), random_(seed), content_(kLargest / 4) {}
  ~CudaWorkload() {
    while (!live_.empty()) free_one();
  }
  CudaWorkload(const CudaWorkload&) = delete;
  CudaWorkload& operator=(const CudaWorkload&) = delete;

  static constexpr std::int64_t kLimit = std::int64_t{128} << 20;

  std::size_t run(std::size_t events) {
    std::size_t granted = 0;
    for (std::size_t i = 0; i < events && !::testing::Test::HasFailure(); ++i) {
      const Bytes size(static_cast<std::int64_t>(1 + random_() % (random_() % 3 == 0 ? kLargest : kLargest / 16)));
      while (live_bytes_ + size.value() > kLimit / 100 * 97 && !live_.empty()) free_one();
      if (random_() % 3 == 0 && !live_.empty()) free_one();
      const StreamId stream(random_() % 4);
      const Result<std::byte*> address = allocator_.allocate(size, stream);
      if (!address) {
        EXPECT_EQ(address.error().code, ErrorCode::out_of_memory) << to_string(address.error());
        EXPECT_LT(Bytes(kLimit) - allocator_.stats().reserved, size) << to_string(address.error());
        continue;
      }
      ++granted;
      live_bytes_ += size.value();
      live_.push_back({*address, size, stream, static_cast<std::uint32_t>(random_())});
      std::fill(content_.begin(), content_.end(), live_.back().mark);
      EXPECT_TRUE(device_.copy(stream, *address, reinterpret_cast<const std::byte*>(content_.data()), size));
      EXPECT_TRUE(device_.synchronize(stream));
    }
    return granted;
  }

 private:
  static constexpr std::size_t kLargest = std::size_t{16} << 20;
  struct Block {
    std::byte* address = nullptr;
    Bytes size;
    StreamId stream;
    std::uint32_t mark = 0;
  };

  void free_one() {
    std::swap(live_[random_() % live_.size()], live_.back());
    const Block block = live_.back();
    live_.pop_back();
    std::vector<std::byte> found(static_cast<std::size_t>(block.size.value()));
    EXPECT_TRUE(device_.copy(block.stream, found.data(), block.address, block.size));
    EXPECT_TRUE(device_.synchronize(block.stream));
    std::fill(content_.begin(), content_.end(), block.mark);
    EXPECT_EQ(std::memcmp(found.data(), content_.data(), found.size()), 0)
        << "a block of " << block.size.value() << " bytes";
    live_bytes_ -= block.size.value();
    allocator_.free(block.address, block.size, block.stream);
  }

  CudaDevice& device_;
  Allocator& allocator_;
  std::mt19937 random_;
  std::vector<std::uint32_t> content_;
  std::vector<Block> live_;
  std::int64_t live_bytes_ = 0;
};

TEST(CudaRuntime, StitchedAndMovedPagesKeepTheirContent) {
  const std::shared_ptr<CudaDevice> device = make_device();
  StreamAllocator allocator(*device, {.limit = Bytes(CudaWorkload::kLimit)});
  CudaWorkload workload(*device, allocator, 5);
  EXPECT_GT(workload.run(600), 300U);
  EXPECT_GT(allocator.stats().maps, allocator.stats().creates) << "there should be stitches";
  EXPECT_GT(allocator.stats().unmaps, 0U);
}

/// A range of many pages is made accessible in one call.
TEST(CudaRuntime, AStitchIsOneAccessCall) {
  const std::shared_ptr<CudaDevice> device = make_device();
  const Bytes page = device->virtual_memory()->granularity();
  CachingAllocator allocator(*device, {.limit = Bytes(page.value() * 8)});
  std::vector<std::byte*> pages;
  for (int i = 0; i < 8; ++i) pages.push_back(allocator.allocate(page).value());
  for (std::size_t i = 0; i < 8; i += 2) allocator.free(pages[i], page, StreamId(0));
  const AllocatorStats before = allocator.stats();
  ASSERT_TRUE(allocator.allocate(Bytes(page.value() * 4)));
  EXPECT_EQ(allocator.stats().maps, before.maps + 4);
  EXPECT_EQ(allocator.stats().access_calls, before.access_calls + 1);
}

TEST(CudaRuntime, AHitMakesNoCall) {
  const std::shared_ptr<CudaDevice> device = make_device();
  StreamAllocator allocator(*device);
  for (const Bytes size : {Bytes(512), Bytes(1 << 20), Bytes(64 << 20)}) {
    for (std::uint32_t stream = 0; stream < 3; ++stream) {
      allocator.free(allocator.allocate(size, StreamId(stream)).value(), size, StreamId(stream));
      allocator.reset_peaks();
      for (int i = 0; i < 100; ++i)
        allocator.free(allocator.allocate(size, StreamId(stream)).value(), size, StreamId(stream));
      const AllocatorStats stats = allocator.stats();
      EXPECT_EQ(stats.creates + stats.releases + stats.maps + stats.unmaps + stats.access_calls + stats.event_waits,
                0U);
    }
  }
}

TEST(CudaRuntime, PlanAheadServesTheSecondIteration) {
  const std::shared_ptr<CudaDevice> device = make_device();
  CachingAllocator fallback(*device);
  const std::unique_ptr<PlanAheadAllocator> ahead = PlanAheadAllocator::make(*device, fallback).value();
  for (int iteration = 0; iteration < 4; ++iteration) {
    ahead->begin_iteration();
    std::vector<std::byte*> blocks;
    for (std::int64_t i = 1; i <= 20; ++i) blocks.push_back(ahead->allocate(Bytes(i * 300000), StreamId(0)).value());
    for (std::int64_t i = 1; i <= 20; ++i)
      ahead->free(blocks[static_cast<std::size_t>(i - 1)], Bytes(i * 300000), StreamId(0));
    ahead->end_iteration();
    if (iteration == 0) ahead->reset_peaks();
  }
  EXPECT_EQ(ahead->counts().served, 60U);
}

}  // namespace
}  // namespace stowage::runtime
