#include "stowage/runtime/session_arena.hpp"

#include <array>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"

namespace stowage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr StreamId kOne(1);
constexpr StreamId kTwo(2);

/// With pages of 1 KiB, and with buffers whose bases are not aligned.
class SessionArenaTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    device_ = SimDevice::make({.alignment = Bytes(256),
                               .skew = Bytes(GetParam() ? 0 : 40),
                               .virtual_memory = GetParam(),
                               .granularity = Bytes(1024)});
    arena_ = SessionArena::make(*device_, {.address_space = Bytes(1 << 20)}).value();
  }
  void TearDown() override {
    arena_.reset();
    EXPECT_EQ(device_->live_objects(), 0U);
    EXPECT_THAT(device_->violations(), IsEmpty());
  }

  LoadedModel load(const std::vector<Bytes>& sizes) { return arena_->load(sizes).value(); }
  /// The model's stream uses its blocks until it is told to finish.
  void run(const LoadedModel& model, StreamId stream) {
    ASSERT_TRUE(arena_->begin(model.id, stream));
    const std::vector<const std::byte*> used(model.addresses.begin(), model.addresses.end());
    ASSERT_TRUE(device_->launch(stream, used));
    ASSERT_TRUE(arena_->end(model.id));
  }
  /// The device memory for blocks of that many bytes loaded at once; buffers need additional bytes for alignment.
  [[nodiscard]] Bytes held(std::int64_t bytes, std::int64_t buffers = 1) const {
    return GetParam() ? Bytes(bytes) : Bytes(bytes + 256 * buffers);
  }

  std::unique_ptr<SimDevice> device_;
  std::unique_ptr<SessionArena> arena_;
};

INSTANTIATE_TEST_SUITE_P(Memory, SessionArenaTest, ::testing::Bool(),
                         [](const auto& memory) { return memory.param ? "pages" : "buffers"; });

TEST_P(SessionArenaTest, BlocksOfAModelLieSideBySideTheLargestFirst) {
  const LoadedModel model = load({Bytes(100), Bytes(4096), Bytes(0), Bytes(1000)});
  ASSERT_EQ(model.addresses.size(), 4U);
  std::byte* const base = model.addresses[1];
  EXPECT_THAT(model.addresses, ElementsAre(base + 4096 + 1024, base, nullptr, base + 4096));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(base) % 256, 0U);
}

TEST_P(SessionArenaTest, TheNextModelOverlaysAndOnlyTheShortfallGrows) {
  const LoadedModel first = load({Bytes(4096), Bytes(2048)});
  EXPECT_EQ(device_->in_use(), held(6144));
  const LoadedModel smaller = load({Bytes(3072)});
  EXPECT_EQ(smaller.addresses[0], first.addresses[0]);
  EXPECT_EQ(device_->in_use(), held(6144));
  const LoadedModel larger = load({Bytes(4096), Bytes(4096)});
  EXPECT_EQ(larger.addresses[0], first.addresses[0]);
  if (GetParam()) {
    EXPECT_EQ(device_->in_use(), Bytes(8192)) << "6 KiB existed already";
  } else {
    EXPECT_EQ(device_->in_use(), held(6144 + 4096, 2))
        << "a buffer cannot grow: a second one for the block that did not fit";
  }
  EXPECT_EQ(arena_->reserved(), device_->in_use());
}

TEST_P(SessionArenaTest, AddressesStayWhateverIsLoadedAndRunsFollowEachOther) {
  const LoadedModel first = load({Bytes(1024)});
  const LoadedModel second = load({Bytes(8192), Bytes(512)});
  for (int i = 0; i < 3; ++i) {
    run(first, kOne);
    const std::uint64_t waits = device_->calls(SimCall::wait);
    run(second, kTwo);
    EXPECT_EQ(device_->calls(SimCall::wait), waits + 1) << "the first model's work is pending";
  }
  device_->finish_all();
  const std::uint64_t waits = device_->calls(SimCall::wait);
  run(first, kOne);
  EXPECT_EQ(device_->calls(SimCall::wait), waits) << "complete work needs no waiting";
}

TEST_P(SessionArenaTest, ModelsThatShareBytesDoNotRunAtOnce) {
  const LoadedModel first = load({Bytes(1024)});
  const LoadedModel second = load({Bytes(2048)});
  ASSERT_TRUE(arena_->begin(first.id, kOne));
  const Status refused = arena_->begin(second.id, kTwo);
  if (GetParam()) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("model 2 cannot run: it shares memory with model 1"));
  } else {
    ASSERT_TRUE(refused) << "the block that did not fit into the first buffer is in another one";
    ASSERT_TRUE(arena_->end(second.id));
  }
  EXPECT_FALSE(arena_->begin(first.id, kOne)) << "it is already running";
  EXPECT_FALSE(arena_->unload(first.id)) << "it is running";
  ASSERT_TRUE(arena_->end(first.id));
  EXPECT_FALSE(arena_->end(first.id)) << "not twice";
  EXPECT_TRUE(arena_->begin(second.id, kTwo));
  EXPECT_TRUE(arena_->end(second.id));
}

TEST_P(SessionArenaTest, AModelThatIsLoadedWhileAnotherRunsGetsMemoryOfItsOwnAndMayRunBesideIt) {
  const LoadedModel large = load({Bytes(8192)});
  const LoadedModel small = load({Bytes(1024)});
  ASSERT_EQ(small.addresses[0], large.addresses[0]);
  ASSERT_TRUE(arena_->begin(small.id, kOne));
  const LoadedModel beside = load({Bytes(4096)});
  EXPECT_EQ(beside.addresses[0], large.addresses[0] + 1024) << "the part of the memory that no active model uses";
  EXPECT_EQ(device_->in_use(), held(8192));
  EXPECT_TRUE(arena_->begin(beside.id, kTwo));
  EXPECT_TRUE(arena_->end(beside.id));
  EXPECT_TRUE(arena_->end(small.id));
}

TEST_P(SessionArenaTest, TrimReturnsWhatNoLoadedModelHasOnceItsRunIsOver) {
  const LoadedModel small = load({Bytes(1024)});
  const LoadedModel large = load({Bytes(8192)});
  EXPECT_EQ(arena_->trim(), Bytes(0)) << "a loaded model keeps its memory";
  run(large, kOne);
  ASSERT_TRUE(arena_->unload(large.id));
  EXPECT_GT(arena_->trim(), Bytes(0));
  EXPECT_EQ(device_->calls(SimCall::synchronize), 1U) << "its run was pending";
  EXPECT_EQ(device_->in_use(), held(1024));
  ASSERT_TRUE(arena_->unload(small.id));
  arena_->trim();
  EXPECT_EQ(device_->in_use(), Bytes(0));
  EXPECT_EQ(arena_->reserved(), Bytes(0));
  EXPECT_EQ(load({Bytes(512)}).addresses.size(), 1U) << "memory is available again";
}

TEST_P(SessionArenaTest, AFailedWaitTrimsNothing) {
  const LoadedModel model = load({Bytes(4096)});
  run(model, kOne);
  ASSERT_TRUE(arena_->unload(model.id));
  device_->fail(SimCall::synchronize, 1);
  EXPECT_EQ(arena_->trim(), Bytes(0));
  EXPECT_EQ(device_->in_use(), held(4096));
  EXPECT_EQ(arena_->trim(), held(4096));
}

TEST_P(SessionArenaTest, UnknownModelsAndNegativeSizesAreInvalid) {
  const LoadedModel model = load({});
  EXPECT_TRUE(arena_->unload(model.id));
  for (const Status& refused : {arena_->unload(model.id), arena_->begin(model.id, kOne), arena_->end(model.id)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
  const std::array negative = {Bytes(16), Bytes(-1)};
  EXPECT_EQ(arena_->load(negative).error().code, ErrorCode::invalid);
  const std::array huge = {kMaxBytes, kMaxBytes};
  EXPECT_EQ(arena_->load(huge).error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(arena_->models(), 0U);
}

TEST_P(SessionArenaTest, WhicheverCallOfALoadFailsNothingIsLeftBehindAndTheNextAttemptSucceeds) {
  const std::vector<Bytes> sizes = {Bytes(4096), Bytes(9000)};
  for (std::uint64_t nth = 1;; ++nth) {
    TearDown();
    SetUp();
    const LoadedModel before = load({Bytes(2048)});
    const std::uint64_t calls = device_->calls();
    const Bytes in_use = device_->in_use();
    const std::size_t objects = device_->live_objects();
    device_->fail_any(nth);
    const Result<LoadedModel> loaded = arena_->load(sizes);
    device_->fail_any(0);
    if (device_->calls() - calls < nth) {
      EXPECT_TRUE(loaded);
      EXPECT_GT(nth, 1U);
      break;
    }
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, ErrorCode::out_of_memory);
    EXPECT_EQ(device_->in_use(), in_use);
    EXPECT_EQ(device_->live_objects(), objects);
    EXPECT_EQ(arena_->models(), 1U);
    EXPECT_TRUE(arena_->load(sizes));
    EXPECT_TRUE(arena_->begin(before.id, kOne));
    EXPECT_TRUE(arena_->end(before.id));
  }
}

TEST_P(SessionArenaTest, ARunThatCannotBeOrderedDoesNotBeginAndOneThatCannotBeFollowedDoesNotEnd) {
  const LoadedModel first = load({Bytes(1024)});
  const LoadedModel second = load({Bytes(1024)});
  run(first, kOne);
  device_->fail(SimCall::wait, 1);
  EXPECT_EQ(arena_->begin(second.id, kTwo).error().code, ErrorCode::device);
  ASSERT_TRUE(arena_->begin(second.id, kTwo));
  device_->fail(SimCall::record, 1);
  EXPECT_EQ(arena_->end(second.id).error().code, ErrorCode::device);
  EXPECT_FALSE(arena_->unload(second.id)) << "it is still active";
  EXPECT_TRUE(arena_->end(second.id));
}

TEST_P(SessionArenaTest, TheEndWaitsForRunsAndForModelsThatAreActiveStill) {
  const LoadedModel first = load({Bytes(1024)});
  run(first, kOne);
  ASSERT_TRUE(arena_->begin(first.id, kTwo));
  const std::vector<const std::byte*> used(first.addresses.begin(), first.addresses.end());
  ASSERT_TRUE(device_->launch(kTwo, used));
  arena_.reset();
  EXPECT_GE(device_->calls(SimCall::synchronize), 2U);
}

// -------------------------------------------------------------------------------------------------------------- pages

TEST(SessionArenaPages, AddressesAreStableWhileTheRangeGrows) {
  const auto device = SimDevice::make({.granularity = Bytes(1024)});
  {
    const auto arena = SessionArena::make(*device, {.address_space = Bytes(1 << 20)}).value();
    const std::array first_sizes = {Bytes(3072)};
    const LoadedModel first = arena->load(first_sizes).value();
    for (std::int64_t size = 4096; size <= 1 << 18; size *= 2) {
      const std::array sizes = {Bytes(size)};
      EXPECT_EQ(arena->load(sizes).value().addresses[0], first.addresses[0]);
      EXPECT_EQ(device->in_use(), Bytes(size));
    }
    EXPECT_EQ(device->calls(SimCall::reserve), 1U);
    const std::array too_large = {Bytes(2 << 20)};
    const Result<LoadedModel> refused = arena->load(too_large);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  }
  EXPECT_EQ(device->live_objects(), 0U);
}

TEST(SessionArenaPages, WhereAddressesCannotBeReservedBuffersServe) {
  const auto device = SimDevice::make({.granularity = Bytes(1024)});
  {
    const auto arena = SessionArena::make(*device).value();
    device->fail(SimCall::reserve, 1);
    const std::array sizes = {Bytes(3072)};
    EXPECT_TRUE(arena->load(sizes));
    EXPECT_EQ(device->calls(SimCall::allocate), 1U);
    EXPECT_TRUE(arena->load(sizes));
    EXPECT_EQ(device->calls(SimCall::reserve), 1U) << "it is not tried again";
    EXPECT_EQ(device->calls(SimCall::allocate), 1U);
  }
  EXPECT_EQ(device->live_objects(), 0U);
  EXPECT_THAT(device->violations(), IsEmpty());
}

TEST(SessionArenaPages, SessionsShareAPoolAndTrimGivesItsMemoryToTheOther) {
  const auto device = SimDevice::make({.granularity = Bytes(1024)});
  {
    PhysicalPool pool(*device->virtual_memory(), Bytes(8192));
    const auto one = SessionArena::make(*device, {.pool = &pool}).value();
    const auto two = SessionArena::make(*device, {.pool = &pool}).value();
    const std::array sizes = {Bytes(6144)};
    const LoadedModel model = one->load(sizes).value();
    EXPECT_EQ(two->load(sizes).error().code, ErrorCode::out_of_memory);
    ASSERT_TRUE(one->unload(model.id));
    EXPECT_EQ(one->trim(), Bytes(6144));
    EXPECT_TRUE(two->load(sizes));
  }
  EXPECT_EQ(device->live_objects(), 0U);
}

TEST(SessionArenaPages, AnotherDevicesPoolAndAnOddAddressSpaceAreRejected) {
  const auto device = SimDevice::make({.granularity = Bytes(1024)});
  const auto other = SimDevice::make({.id = DeviceId(7)});
  PhysicalPool pool(*other->virtual_memory());
  const auto refused = SessionArena::make(*device, {.pool = &pool});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("device 7"));
  for (const Bytes space : {Bytes(0), Bytes(1000), Bytes(-1024)})
    EXPECT_FALSE(SessionArena::make(*device, {.address_space = space}));
}

TEST(SessionArenaBuffers, BlocksAreSpreadOverBuffersWhereOneHasALargestSize) {
  const auto device = SimDevice::make({.alignment = Bytes(256), .max_size = Bytes(4096), .virtual_memory = false});
  {
    const auto arena = SessionArena::make(*device).value();
    const std::array sizes = {Bytes(2048), Bytes(2048), Bytes(1024)};
    const LoadedModel model = arena->load(sizes).value();
    EXPECT_EQ(device->calls(SimCall::allocate), 2U);
    device->fail(SimCall::allocate, 2);
    const std::array more = {Bytes(3000), Bytes(3000), Bytes(3000), Bytes(3000)};
    const std::size_t objects = device->live_objects();
    EXPECT_FALSE(arena->load(more));
    EXPECT_EQ(device->live_objects(), objects) << "the buffer that was already allocated is freed";
    EXPECT_TRUE(arena->load(more));
  }
  EXPECT_EQ(device->live_objects(), 0U);
}

}  // namespace
}  // namespace stowage
