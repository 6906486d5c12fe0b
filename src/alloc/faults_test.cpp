#include <functional>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/alloc/allocate_all.hpp"
#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/verify.hpp"
#include "support/builders/allocator_graphs.hpp"

/// Every device call that can fail does fail once: the first, the second, and so on, until the operation makes no more
/// calls. Each time the error names the type and the size, nothing has changed, and the next attempt succeeds.
namespace stowage {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::IsEmpty;
using testing::steady;

// Not reserving addresses: without them there are plain buffers (graph_allocator_pages_test.cpp).
constexpr std::array kCalls = {SimCall::allocate, SimCall::create, SimCall::map, SimCall::unmap};

/// Two devices, so that one may already have grown when the other fails.
struct Devices {
  std::unique_ptr<SimDevice> near = SimDevice::make({.id = DeviceId(1),
                                                     .name = "near",
                                                     .alignment = Bytes(32),
                                                     .skew = Bytes(8),
                                                     .max_size = Bytes(9000),
                                                     .granularity = Bytes(1024)});
  std::unique_ptr<SimDevice> far =
      SimDevice::make({.id = DeviceId(2), .name = "far", .alignment = Bytes(64), .granularity = Bytes(1024)});

  [[nodiscard]] std::array<SimDevice*, 2> all() const { return {near.get(), far.get()}; }
  [[nodiscard]] Bytes in_use() const { return near->in_use() + far->in_use(); }
  [[nodiscard]] std::size_t live_objects() const { return near->live_objects() + far->live_objects(); }
  void expect_no_violations() const {
    for (const SimDevice* device : all()) EXPECT_THAT(device->violations(), IsEmpty());
  }
  /// Makes the `nth` call of that kind on one device fail, counted on that device alone.
  void fail(std::size_t device, SimCall call, std::uint64_t nth) const { all()[device]->fail(call, nth); }
};

GraphAllocator make_allocator(const Devices& devices, bool pages) {
  GraphAllocatorOptions options = steady();
  if (pages) {
    options.virtual_memory = {devices.near.get(), devices.far.get()};
    options.address_space = Bytes(1 << 20);
    options.page_size = Bytes(1024);
  }
  return GraphAllocator({&devices.near->buffer_type(), &devices.far->buffer_type(), &devices.near->buffer_type()},
                        options);
}

/// Several tensors live at once in each of three memories, so that the first has several chunks.
Graph graph_of(std::int64_t size) {
  GraphBuilder builder("graph of " + std::to_string(size));
  for (const char* name : {"a", "b", "c"}) builder.add(Memory{.name = name});
  std::vector<std::optional<TensorId>> inputs;
  for (std::size_t i = 0; i < 9; ++i) {
    inputs.emplace_back(builder.add(Tensor{
        .name = "x" + std::to_string(i), .size = Bytes(size), .memory = MemoryId(i % 3), .flags = TensorFlag::input}));
  }
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(size), .flags = TensorFlag::output});
  builder.add(Op{.name = "all",
                 .kind = "X",
                 .inputs = inputs,
                 .outputs = {y},
                 .in_place = {{0, 0}},
                 .workspaces = {{.size = Bytes(100)}}});
  return *builder.build();
}

std::vector<std::byte> content(std::size_t tensor, std::size_t size) {
  return std::vector<std::byte>(size, std::byte{static_cast<std::uint8_t>(17 + tensor * 13)});
}

void write_all(const Graph& graph, const Allocation& allocation) {
  for (std::size_t t = 0; t < 9; ++t) {
    const std::vector<std::byte> bytes = content(t, static_cast<std::size_t>(graph.tensors()[t].size.value()));
    ASSERT_TRUE(allocation.tensors[t].buffer->write(allocation.tensors[t].offset, bytes));
  }
}

void expect_all(const Graph& graph, const Allocation& allocation) {
  for (std::size_t t = 0; t < 9; ++t) {
    const std::vector<std::byte> expected = content(t, static_cast<std::size_t>(graph.tensors()[t].size.value()));
    std::vector<std::byte> found(expected.size());
    ASSERT_TRUE(allocation.tensors[t].buffer->read(allocation.tensors[t].offset, found));
    EXPECT_EQ(found, expected) << t;
  }
}

void expect_names_type_and_size(const Error& error) {
  EXPECT_EQ(error.code, ErrorCode::out_of_memory) << error.message;
  EXPECT_THAT(error.message, ContainsRegex("(near|far): cannot allocate [0-9]+ bytes"));
}

/// One scenario. The allocator is new; if `grown`, it has served `graph_of(100)`.
struct Case {
  bool pages = false;
  bool grown = false;
  std::size_t device = 0;
  SimCall call = SimCall::allocate;
  std::uint64_t nth = 1;
};

/// False: the operation succeeded because there is no such call.
bool run(const Case& c, const std::function<Status(GraphAllocator&)>& operation) {
  const Devices devices;
  {
    GraphAllocator allocator = make_allocator(devices, c.pages);
    const Graph before = graph_of(100);
    Allocation was;
    if (c.grown) {
      EXPECT_TRUE(allocator.reserve(before));
      was = **allocator.allocate(before);
      write_all(before, was);
    }
    const Bytes in_use = devices.in_use();
    const std::size_t objects = devices.live_objects();
    devices.fail(c.device, c.call, c.nth);
    const std::uint64_t calls = devices.all()[c.device]->calls(c.call);
    const Status status = operation(allocator);
    devices.fail(c.device, c.call, 0);
    if (devices.all()[c.device]->calls(c.call) < calls + c.nth) return false;
    EXPECT_FALSE(status);
    if (status) return false;
    expect_names_type_and_size(status.error());
    EXPECT_EQ(devices.in_use(), in_use);
    EXPECT_EQ(devices.live_objects(), objects);
    if (c.grown) {
      expect_all(before, was);
      const Result<const Allocation*> again = allocator.allocate(before);
      EXPECT_TRUE(again);
      EXPECT_EQ((*again)->tensors, was.tensors);
      EXPECT_EQ((*again)->plan, was.plan);
    } else {
      EXPECT_EQ(allocator.buffer_size(0), Bytes(0));
    }
    const Status retried = operation(allocator);
    EXPECT_TRUE(retried) << to_string(retried.error());
    const Graph larger = graph_of(2000);
    const Result<const Allocation*> now = allocator.allocate(larger);
    EXPECT_TRUE(now);
    EXPECT_THAT(verify(*allocator.as_served(larger), (*now)->plan), IsEmpty());
    write_all(larger, **now);
    expect_all(larger, **now);
  }
  EXPECT_EQ(devices.live_objects(), 0U);
  devices.expect_no_violations();
  return true;
}

/// How often each kind of call could fail.
std::map<SimCall, std::uint64_t> fail_each(bool pages, bool grown) {
  std::map<SimCall, std::uint64_t> failures;
  const auto reserve = [](GraphAllocator& allocator) { return allocator.reserve(graph_of(2000)); };
  for (const std::size_t device : {0U, 1U}) {
    for (const SimCall call : kCalls) {
      Case c{pages, grown, device, call, 1};
      for (; run(c, reserve) && !::testing::Test::HasFailure(); ++c.nth) ++failures[call];
    }
  }
  return failures;
}

TEST(AllocFaults, AFirstReserveThatFailsLeavesNothingBehind) {
  const std::map<SimCall, std::uint64_t> failures = fail_each(false, false);
  EXPECT_EQ(failures.at(SimCall::allocate), 5U)
      << "two chunks near, each allocated twice because of its unaligned base, one far";
}

TEST(AllocFaults, AGrowthThatFailsLeavesPlanBuffersAndContent) {
  EXPECT_EQ(fail_each(false, true).at(SimCall::allocate), 5U);
}

TEST(AllocFaults, AFirstReserveOfPagesThatFailsLeavesNothingBehind) {
  const std::map<SimCall, std::uint64_t> failures = fail_each(true, false);
  EXPECT_GE(failures.at(SimCall::create), 15U);
  EXPECT_EQ(failures.at(SimCall::create), failures.at(SimCall::map));
}

TEST(AllocFaults, AGrowthByPagesThatFailsLeavesPlanPagesAndContent) {
  const std::map<SimCall, std::uint64_t> failures = fail_each(true, true);
  EXPECT_GE(failures.at(SimCall::create), 15U);
  EXPECT_EQ(failures.at(SimCall::create), failures.at(SimCall::map));
}

TEST(AllocFaults, AllocateThatPlansByItselfFailsLikeReserve) {
  for (std::uint64_t nth = 1; nth <= 3; ++nth) {
    auto sim = SimDevice::make({.alignment = Bytes(64)});
    {
      GraphAllocator allocator(sim->buffer_type(), steady());
      const Allocation was = **allocator.allocate(testing::chain(100));
      sim->fail(SimCall::allocate, nth);
      const Result<const Allocation*> larger = allocator.allocate(testing::chain(1000));
      EXPECT_EQ(larger.has_value(), nth > 1) << "there is one call to fail";
      if (larger) continue;
      EXPECT_THAT(larger.error().message, ContainsRegex("sim: cannot allocate 2048 bytes"));
      EXPECT_EQ((*allocator.allocate(testing::chain(100)))->tensors, was.tensors);
      EXPECT_TRUE(allocator.allocate(testing::chain(1000)));
    }
    EXPECT_EQ(sim->live_objects(), 0U);
  }
}

/// A page that cannot be unmapped while a growth is undone stays usable and is not leaked.
TEST(AllocFaults, AFailureWhileAFailureIsUndoneLosesNothing) {
  const Devices devices;
  {
    GraphAllocator allocator = make_allocator(devices, true);
    ASSERT_TRUE(allocator.reserve(graph_of(100)));
    const Allocation was = **allocator.allocate(graph_of(100));
    devices.far->fail(SimCall::create, 3);
    devices.far->fail(SimCall::unmap, 1);
    devices.near->fail(SimCall::unmap, 2);
    ASSERT_FALSE(allocator.reserve(graph_of(2000)));
    EXPECT_EQ((*allocator.allocate(graph_of(100)))->tensors, was.tensors);
    ASSERT_TRUE(allocator.reserve(graph_of(2000)));
  }
  EXPECT_EQ(devices.live_objects(), 0U);
  devices.expect_no_violations();
}

TEST(AllocFaults, ATrimThatFailsCanBeTriedAgain) {
  for (std::uint64_t nth = 1; nth < 50; ++nth) {
    const Devices devices;
    {
      GraphAllocator allocator = make_allocator(devices, true);
      ASSERT_TRUE(allocator.reserve(graph_of(2000)));
      devices.near->fail(SimCall::unmap, nth);
      const Status trimmed = allocator.trim(graph_of(100));
      devices.near->fail(SimCall::unmap, 0);
      const Allocation was = **allocator.allocate(graph_of(100));
      write_all(graph_of(100), was);
      EXPECT_TRUE(allocator.trim());
      EXPECT_EQ((*allocator.allocate(graph_of(100)))->tensors, was.tensors);
      expect_all(graph_of(100), was);
      EXPECT_EQ(devices.in_use(), allocator.buffer_size(0) + allocator.buffer_size(1));
      if (trimmed) {
        EXPECT_GT(nth, 5U);
        break;
      }
    }
    EXPECT_EQ(devices.live_objects(), 0U);
    devices.expect_no_violations();
  }
}

TEST(AllocFaults, AllocateAllThatFailsFreesWhatItTook) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < 10; ++i) tensors.push_back({.name = "w" + std::to_string(i), .size = Bytes(100)});
  const Devices devices;
  SimDevice& sim = *devices.near;
  std::uint64_t failures = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    sim.fail(SimCall::allocate, nth);
    const Result<AllocatedTensors> result = allocate_all(tensors, sim.buffer_type());
    sim.fail(SimCall::allocate, 0);
    if (result) break;
    ++failures;
    expect_names_type_and_size(result.error());
    EXPECT_EQ(sim.live_objects(), 0U);
    EXPECT_TRUE(allocate_all(tensors, sim.buffer_type()));
  }
  EXPECT_EQ(failures, 2U) << "one buffer, allocated twice because of its unaligned base";
  EXPECT_EQ(sim.live_objects(), 0U);
  devices.expect_no_violations();
}

}  // namespace
}  // namespace stowage
