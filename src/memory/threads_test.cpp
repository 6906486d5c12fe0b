#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "support/memory/devices.hpp"

namespace stowage::memory {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 200;

template <class Work>
void in_threads(Work&& work) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([&work, t] { work(t); });
}

class MemoryThreads : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Devices, MemoryThreads, ::testing::ValuesIn(device_kinds()),
                         [](const auto& kind) { return kind.param; });

TEST_P(MemoryThreads, EveryThreadHasItsOwnBuffers) {
  const DeviceKind kind = make_device_kind(GetParam());
  in_threads([&](int t) {
    const auto mine = static_cast<std::uint8_t>(t + 1);
    for (int round = 0; round < kRounds; ++round) {
      const auto buffer = kind.device().buffer_type().allocate(Bytes(64 + round)).value();
      ASSERT_TRUE(buffer->clear(mine));
      std::byte last{};
      ASSERT_TRUE(buffer->read(buffer->size() - Bytes(1), {&last, 1}));
      ASSERT_EQ(last, std::byte{mine});
    }
  });
}

TEST_P(MemoryThreads, EveryThreadMapsAndUnmapsInOneReservation) {
  const DeviceKind kind = make_device_kind(GetParam());
  VirtualMemory* const memory = kind.device().virtual_memory();
  if (memory == nullptr) GTEST_SKIP() << "this system has no virtual memory for " << GetParam();
  const Bytes page = memory->granularity();
  const Bytes whole(page.value() * kThreads);
  std::byte* const base = memory->reserve(whole).value();
  in_threads([&](int t) {
    std::byte* const address = base + page.value() * t;
    for (int round = 0; round < kRounds; ++round) {
      const PhysicalId physical = memory->create(page).value();
      ASSERT_TRUE(memory->map(address, physical, Bytes(0), page));
      int sent = t * kRounds + round;
      int received = 0;
      const StreamId stream(static_cast<std::size_t>(t));
      ASSERT_TRUE(kind.device().copy(stream, address, reinterpret_cast<std::byte*>(&sent), Bytes(sizeof sent)));
      ASSERT_TRUE(kind.device().copy(stream, reinterpret_cast<std::byte*>(&received), address, Bytes(sizeof sent)));
      ASSERT_TRUE(kind.device().synchronize(stream));
      ASSERT_EQ(received, sent);
      ASSERT_TRUE(memory->release(physical));
      ASSERT_TRUE(memory->unmap(address, page));
    }
  });
  EXPECT_TRUE(memory->free(base, whole));
}

TEST_P(MemoryThreads, EventsOfManyThreadsAreAllDifferent) {
  const DeviceKind kind = make_device_kind(GetParam());
  std::array<std::vector<EventId>, kThreads> events;
  in_threads([&](int t) {
    for (int round = 0; round < kRounds; ++round) {
      const StreamId stream(static_cast<std::size_t>(t % 3));
      const EventId event = kind.device().record(stream).value();
      ASSERT_TRUE(kind.device().wait(StreamId(static_cast<std::size_t>(t)), event));
      ASSERT_TRUE(kind.device().is_complete(event));
      events[static_cast<std::size_t>(t)].push_back(event);
    }
  });
  std::vector<EventId> all;
  for (const auto& some : events) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  for (const EventId event : all) kind.device().forget(event);
}

}  // namespace
}  // namespace stowage::memory
