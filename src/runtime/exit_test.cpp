#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/caching_allocator.hpp"
#include "stowage/runtime/plan_ahead.hpp"
#include "stowage/runtime/session_arena.hpp"
#include "stowage/runtime/stream_allocator.hpp"

/// Processes and threads that end, in every order.
namespace stowage {
namespace {

/// Runs something in a child process; returns its exit status.
template <class Work>
int status_of_child(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(RuntimeExit, AllocatorsOutliveEverythingElse) {
  EXPECT_EQ(status_of_child([] {
              static StreamAllocator streams(cpu_device(), {});
              static CachingAllocator caching(cpu_device(), {.any_thread = true});
              [[maybe_unused]] static std::byte* const a = streams.allocate(Bytes(5 << 20), StreamId(1)).value();
              [[maybe_unused]] static std::byte* const b = caching.allocate(Bytes(5 << 20)).value();
            }),
            0);
}

/// An object made before the first allocator is destroyed after the last one. It may still free; no driver is called.
TEST(RuntimeExit, FreesAfterTheAllocatorsTime) {
  struct Late {
    std::unique_ptr<StreamAllocator> allocator;
    std::byte* block = nullptr;
    ~Late() {
      if (allocator != nullptr) allocator->free(block, Bytes(1 << 20), StreamId(0));
    }
  };
  EXPECT_EQ(status_of_child([] {
              static Late late;
              late.allocator = std::make_unique<StreamAllocator>(cpu_device());
              late.block = late.allocator->allocate(Bytes(1 << 20), StreamId(0)).value();
            }),
            0);
}

/// The device is destroyed before the objects that use it. The address sanitizer would report any call to it.
TEST(RuntimeExit, NothingIsCalledOnceTheDeviceIsGone) {
  struct Late {
    std::unique_ptr<StreamAllocator> streams;
    std::unique_ptr<CachingAllocator> caching;
    std::unique_ptr<PlanAheadAllocator> ahead;
    std::unique_ptr<SessionArena> session;
    std::byte* block = nullptr;
    std::byte* used = nullptr;
    ~Late() {
      if (streams == nullptr) return;
      streams->free(block, Bytes(512), StreamId(1));
      streams->free(used, Bytes(512), StreamId(1));  // another stream may be using it, and can no longer be queried
      ahead.reset();
    }
  };
  const auto leave_all = [](bool virtual_memory) {
    static Late late;
    static std::unique_ptr<SimDevice> device = SimDevice::make({.virtual_memory = virtual_memory});
    late.streams = std::make_unique<StreamAllocator>(*device);
    late.block = late.streams->allocate(Bytes(512), StreamId(1)).value();
    late.used = late.streams->allocate(Bytes(512), StreamId(1)).value();
    if (!late.streams->record_use(late.used, StreamId(2))) return;
    late.caching = std::make_unique<CachingAllocator>(*device);
    late.ahead = PlanAheadAllocator::make(*device, *late.streams).value();
    for (int i = 0; i < 3; ++i) {
      late.ahead->begin_iteration();
      for (const StreamId stream : {StreamId(0), StreamId(1), StreamId(0)}) {
        std::byte* const planned = late.ahead->allocate(Bytes(3 << 20), stream).value();
        if (!late.ahead->record_use(planned, StreamId(3))) return;
        late.ahead->free(planned, Bytes(3 << 20), stream);
      }
      late.ahead->end_iteration();
    }
    late.session = SessionArena::make(*device).value();
    const std::vector<Bytes> sizes{Bytes(1 << 20)};
    const LoadedModel model = late.session->load(sizes).value();
    if (late.session->begin(model.id, StreamId(0)) && late.session->end(model.id)) std::exit(0);
  };
  GTEST_FLAG_SET(death_test_style,
                 "threadsafe");  // a new process, in which no object of the module was made before
  EXPECT_EXIT(leave_all(true), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(leave_all(false), ::testing::ExitedWithCode(0), "");
}

TEST(RuntimeExit, ExitWhileAnotherThreadAllocates) {
  EXPECT_EQ(status_of_child([] {
              static StreamAllocator streams(cpu_device(), {});
              std::thread([] {
                for (;;) streams.free(*streams.allocate(Bytes(1 << 16), StreamId(2)), Bytes(1 << 16), StreamId(2));
              }).detach();
              std::this_thread::sleep_for(std::chrono::milliseconds(5));
              std::quick_exit(0);
            }),
            0);
}

/// What a child process does with inherited allocators does not change its parent's memory.
TEST(RuntimeExit, AChildThatEndsLeavesTheParentsMemoryAlone) {
  auto allocator = std::make_unique<StreamAllocator>(cpu_device());
  std::byte* const block = allocator->allocate(Bytes(4 << 20), StreamId(0)).value();
  std::memset(block, 7, 4 << 20);
  EXPECT_EQ(status_of_child([&] {
              allocator->free(block, Bytes(4 << 20), StreamId(0));
              allocator->trim();
              allocator.reset();
            }),
            0);
  for (std::size_t i = 0; i < (4U << 20); i += 4096) ASSERT_EQ(static_cast<int>(block[i]), 7);
  allocator->free(block, Bytes(4 << 20), StreamId(0));
}

/// Memory that a child process gets from an inherited allocator is private to it.
TEST(RuntimeExit, AChildsMemoryIsItsOwn) {
  StreamAllocator allocator(cpu_device());
  EXPECT_EQ(status_of_child([&] {
              const Result<std::byte*> block = allocator.allocate(Bytes(4 << 20), StreamId(0));
              if (block) std::memset(*block, 1, 4 << 20);
              _exit(block ? 0 : 1);
            }),
            0);
  std::byte* const block = allocator.allocate(Bytes(4 << 20), StreamId(0)).value();
  for (std::size_t i = 0; i < (4U << 20); i += 4096) ASSERT_EQ(static_cast<int>(block[i]), 0);  // new pages are zero
  allocator.free(block, Bytes(4 << 20), StreamId(0));
}

}  // namespace
}  // namespace stowage
