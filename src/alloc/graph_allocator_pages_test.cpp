#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/verify.hpp"
#include "support/builders/allocator_graphs.hpp"
#include "support/child.hpp"

/// GraphAllocator with virtual memory, and its fallback where a device has none.
namespace stowage {
namespace {

using testing::chain;
using ::testing::IsEmpty;
using testing::layers;
using testing::steady;

constexpr Bytes kPage{4096};

GraphAllocatorOptions pages_of(Device& device) {
  GraphAllocatorOptions options = steady();
  options.virtual_memory = {nullptr, &device};
  options.address_space = Bytes(64 << 20);
  options.page_size = kPage;
  return options;
}

class GraphAllocatorPages : public ::testing::TestWithParam<std::string> {
 protected:
  GraphAllocatorPages() {
    if (GetParam() == "sim") sim_ = SimDevice::make({.granularity = Bytes(1024)});
  }
  ~GraphAllocatorPages() override {
    if (!sim_) return;
    EXPECT_EQ(sim_->live_objects(), 0U);
    EXPECT_THAT(sim_->violations(), IsEmpty());
  }
  void SetUp() override {
    if (device().virtual_memory() == nullptr) GTEST_SKIP() << "NO VIRTUAL MEMORY on this machine";
  }

  [[nodiscard]] Device& device() const { return sim_ ? static_cast<Device&>(*sim_) : cpu_device(); }

  std::shared_ptr<SimDevice> sim_;
};

TEST_P(GraphAllocatorPages, GrowthMovesNoAddressAndLosesNoContent) {
  GraphAllocator allocator(device().buffer_type(), pages_of(device()));
  const Graph small = chain(1000);
  const Allocation before = **allocator.allocate(small);
  const std::vector<std::byte> written(1000, std::byte{42});
  ASSERT_TRUE(before.tensors[3].buffer->write(before.tensors[3].offset, written));
  const std::byte* const data = before.tensors[3].data();
  for (const std::int64_t size : {10'000, 100'000, 1'000'000}) {
    ASSERT_TRUE(allocator.allocate(chain(size)));
    EXPECT_EQ(allocator.last_replan().reason, ReplanReason::size);
    EXPECT_GE(allocator.buffer_size(0), Bytes(2 * size));
    EXPECT_LT(allocator.buffer_size(0), Bytes(2 * size) + Bytes(512) + kPage);
    const Allocation& now = **allocator.allocate(small);
    EXPECT_EQ(now.tensors, before.tensors);
    EXPECT_EQ(now.tensors[3].data(), data);
    std::vector<std::byte> read(1000);
    ASSERT_TRUE(now.tensors[3].buffer->read(now.tensors[3].offset, read));
    EXPECT_EQ(read, written);
  }
  EXPECT_EQ(allocator.counters().buffer_allocations, 1U);
  EXPECT_EQ(allocator.counters().growths, 4U);
}

TEST_P(GraphAllocatorPages, TrimReturnsPagesAboveTheNeedAndTheNextLargeGraphTakesThemAgain) {
  GraphAllocator allocator(device().buffer_type(), pages_of(device()));
  ASSERT_TRUE(allocator.reserve(chain(1'000'000)));
  const Bytes large = allocator.buffer_size(0);
  ASSERT_TRUE(allocator.trim()) << "nothing to return";
  EXPECT_EQ(allocator.buffer_size(0), large);

  ASSERT_TRUE(allocator.trim(chain(1000)));
  EXPECT_EQ(allocator.buffer_size(0), kPage);
  EXPECT_EQ(allocator.counters().bytes_returned, large - kPage);
  if (sim_) {
    EXPECT_EQ(sim_->in_use(), kPage);
  }
  const Allocation small = **allocator.allocate(chain(1000));
  EXPECT_EQ(allocator.buffer_size(0), kPage) << "and allocating it again takes no more";
  ASSERT_TRUE(small.tensors[0].buffer->fill({small.tensors[0].offset, small.tensors[0].offset + Bytes(1000)}, 7));

  const Graph graph = chain(1'000'000);
  const Allocation& again = **allocator.allocate(graph);
  EXPECT_EQ(allocator.last_replan(), Replan{}) << "its plan is still there";
  EXPECT_GE(allocator.buffer_size(0), Bytes(2'000'000));
  EXPECT_LE(allocator.buffer_size(0), large);
  EXPECT_THAT(verify(*allocator.as_served(graph), again.plan), IsEmpty());
  for (const Address& address : again.tensors)
    ASSERT_TRUE(address.buffer->fill({address.offset, address.offset + Bytes(1'000'000)}, 1));
}

TEST_P(GraphAllocatorPages, TrimKeepsTheAddressesOfTheLastGraph) {
  GraphAllocator allocator(device().buffer_type(), pages_of(device()));
  ASSERT_TRUE(allocator.reserve(layers(3, 512)));
  const Graph small = layers(2, 8);
  ASSERT_TRUE(allocator.reserve(small));
  const Allocation before = **allocator.allocate(small);
  const Bytes size = allocator.buffer_size(0);
  ASSERT_TRUE(allocator.trim());
  EXPECT_LT(allocator.buffer_size(0), size);
  EXPECT_EQ((*allocator.allocate(small))->tensors, before.tensors);
  ASSERT_TRUE(allocator.allocate(layers(3, 512)));
}

TEST_P(GraphAllocatorPages, LargerSizesUnderOnePlanTakeBackWhatTrimReturned) {
  GraphAllocator allocator(device().buffer_type(), pages_of(device()));
  ASSERT_TRUE(allocator.reserve(layers(2, 512)));
  ASSERT_TRUE(allocator.allocate(layers(2, 1)));
  ASSERT_TRUE(allocator.trim());
  for (const std::int64_t batch : {2, 64, 512, 3}) {
    const Graph graph = layers(2, batch);
    const Allocation& allocation = **allocator.allocate(graph);
    for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
      const Address& address = allocation.tensors[t];
      if (address.buffer == nullptr) continue;
      ASSERT_TRUE(address.buffer->fill({address.offset, address.offset + graph.tensors()[t].size}, 1))
          << "batch " << batch;
    }
  }
  EXPECT_EQ(allocator.counters().plans, 1U);
}

TEST_P(GraphAllocatorPages, MoreThanTheAddressesThatAreReservedIsOutOfMemory) {
  GraphAllocatorOptions options = pages_of(device());
  options.address_space = Bytes(1 << 20);
  GraphAllocator allocator(device().buffer_type(), options);
  const Allocation before = **allocator.allocate(chain(1000));
  const Result<const Allocation*> larger = allocator.allocate(chain(1 << 20));
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ((*allocator.allocate(chain(1000)))->tensors, before.tensors);
}

INSTANTIATE_TEST_SUITE_P(Devices, GraphAllocatorPages, ::testing::Values("cpu", "sim"),
                         [](const ::testing::TestParamInfo<std::string>& device) { return device.param; });

TEST(GraphAllocatorPlain, ADeviceWithoutVirtualMemoryHasPlainBuffersAndTrimFreesWholeChunks) {
  auto sim = SimDevice::make({.alignment = Bytes(1), .max_size = Bytes(1000), .virtual_memory = false});
  GraphAllocator allocator(sim->buffer_type(), pages_of(*sim));
  ASSERT_TRUE(allocator.reserve(chain(900)));
  EXPECT_EQ(allocator.buffer_count(0), 2U);
  const Graph small = chain(30);
  ASSERT_TRUE(allocator.trim(small));
  EXPECT_EQ(allocator.buffer_count(0), 1U);
  EXPECT_EQ(sim->in_use(), Bytes(900));
  const Allocation before = **allocator.allocate(small);
  ASSERT_TRUE(allocator.trim());
  EXPECT_EQ((*allocator.allocate(small))->tensors, before.tensors);
  ASSERT_TRUE(allocator.allocate(chain(900)));
  EXPECT_EQ(sim->in_use(), Bytes(1800));
  EXPECT_THAT(sim->violations(), IsEmpty());
}

/// x → y of `size` bytes, planned for buffers of at most 4096: each tensor in a chunk of its own.
Graph pair(std::int64_t size) {
  testing::Sketch s;
  const TensorId x = s.tensor("x", size, TensorFlag::input);
  const TensorId y = s.tensor("y", size, TensorFlag::output);
  s.op({x}, {y});
  return s.build();
}

TEST(GraphAllocatorAddresses, WhenThereAreNoneThereArePlainBuffers) {
  auto sim = SimDevice::make({.alignment = Bytes(1)});
  {
    GraphAllocator allocator(sim->buffer_type(), pages_of(*sim));
    sim->fail(SimCall::reserve, 1, 100);
    sim->fail(SimCall::allocate, 1);
    const Result<const Allocation*> none = allocator.allocate(chain(1000));
    ASSERT_FALSE(none) << "there is no memory either";
    EXPECT_EQ(none.error().message, "sim: cannot allocate 2000 bytes: this call of allocate was scripted to fail");
    ASSERT_TRUE(allocator.allocate(chain(1000)));
    EXPECT_EQ(allocator.buffer_size(0), Bytes(2000)) << "not whole pages";
    const std::uint64_t refused = sim->calls(SimCall::reserve);
    ASSERT_TRUE(allocator.allocate(chain(2000)));
    EXPECT_EQ(sim->in_use(), Bytes(4000)) << "the buffer that was replaced is gone";
    EXPECT_EQ(sim->calls(SimCall::reserve), refused) << "a refusal is final";
    const Allocation before = **allocator.allocate(chain(1000));
    ASSERT_TRUE(allocator.trim());
    EXPECT_EQ((*allocator.allocate(chain(1000)))->tensors, before.tensors);
  }
  EXPECT_EQ(sim->live_objects(), 0U);
  EXPECT_THAT(sim->violations(), IsEmpty());
}

TEST(GraphAllocatorAddresses, OneChunkMayHaveThemAndTheNextNot) {
  auto sim = SimDevice::make({.alignment = Bytes(1), .max_size = Bytes(8192), .granularity = Bytes(1024)});
  {
    GraphAllocator allocator(sim->buffer_type(), pages_of(*sim));
    sim->fail(SimCall::reserve, 2, 100);
    ASSERT_TRUE(allocator.reserve(pair(5000)));
    ASSERT_EQ(allocator.buffer_count(0), 2U);
    EXPECT_EQ(allocator.buffer(0, 0).size(), Bytes(8192)) << "two pages";
    EXPECT_EQ(allocator.buffer(0, 1).size(), Bytes(5000));
    const std::byte* const first = allocator.buffer(0, 0).base();

    const Graph larger = pair(8192);
    const Allocation& allocation = **allocator.allocate(larger);
    EXPECT_THAT(verify(*allocator.as_served(larger), allocation.plan), IsEmpty());
    EXPECT_EQ(allocator.buffer(0, 0).base(), first);
    EXPECT_EQ(allocator.buffer(0, 1).size(), Bytes(8192)) << "replaced";
    for (const Address& address : allocation.tensors)
      ASSERT_TRUE(address.buffer->fill({address.offset, address.offset + Bytes(8192)}, 7));

    ASSERT_TRUE(allocator.trim(pair(10)));
    EXPECT_EQ(allocator.buffer_count(0), 1U) << "what is not needed is freed";
    EXPECT_EQ(sim->in_use(), kPage);
    ASSERT_TRUE(allocator.allocate(larger));
    EXPECT_EQ(allocator.buffer_count(0), 2U);
  }
  EXPECT_EQ(sim->live_objects(), 0U);
  EXPECT_THAT(sim->violations(), IsEmpty());
}

/// gcc defines macros for sanitizers, clang has features.
constexpr bool is_sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}

TEST(GraphAllocatorAddresses, ALimitOfTheSystemIsNoError) {
  if (is_sanitized()) GTEST_SKIP() << "NO LIMIT OF ADDRESSES: a sanitizer needs more than any limit leaves";
  const testing::ChildResult child = testing::run_in_child([]() -> std::string {
    const rlimit limit{rlim_t{4} << 30, rlim_t{4} << 30};  // as with `ulimit -v 4194304`
    if (setrlimit(RLIMIT_AS, &limit) != 0) return "no limit can be set";
    GraphAllocatorOptions options = steady();
    options.virtual_memory = {&cpu_device()};
    GraphAllocator allocator(cpu_device().buffer_type(), options);
    const Graph graph = chain(100'000);
    const Result<const Allocation*> allocation = allocator.allocate(graph);
    if (!allocation) return to_string(allocation.error());
    const Address& address = (*allocation)->tensors[3];
    if (!address.buffer->fill({address.offset, address.offset + Bytes(100'000)}, 7)) return "cannot be written";
    return allocator.allocate(chain(1'000'000)) ? "served" : "does not grow";
  });
  EXPECT_EQ(child.text, "served");
}

}  // namespace
}  // namespace stowage
