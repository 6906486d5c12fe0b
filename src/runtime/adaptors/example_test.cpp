#include <memory_resource>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/runtime.hpp"

/// The example of docs/runtime.md: the text between the marks is the same, word for word.
namespace stowage {
namespace {

TEST(AdaptorsExample, ALimitWithACacheThatMakesRoomLoggedAndCounted) {
  std::ostringstream csv;

  // [example]
  PmrAllocator heap(*std::pmr::new_delete_resource());  // or any other allocator
  LimitAdaptor limit(heap, Bytes(16 << 20));
  std::vector<std::byte*> cache;  // results of 4 MiB that could be computed again
  FailureCallbackAdaptor spill(limit, [&](Bytes, StreamId, const Error&) {
    if (cache.empty()) return false;
    limit.free(cache.back(), Bytes(4 << 20), StreamId(0));
    cache.pop_back();
    return true;
  });
  LogAdaptor log(spill, csv);
  StatisticsAdaptor statistics(log);

  for (int i = 0; i < 3; ++i) cache.push_back(limit.allocate(Bytes(4 << 20), StreamId(0)).value());
  statistics.push();
  {
    PmrResource resource(statistics);
    std::pmr::vector<float> activations(2 << 20, &resource);  // 8 MiB: one result has to go
    activations.back() = 1;
  }
  const AllocationCounters phase = statistics.pop().value();  // requested_peak 8 MiB, 1 allocation, no failure
  // [example]

  EXPECT_EQ(phase.requested_peak, Bytes(8 << 20));
  EXPECT_EQ(phase.requested, Bytes(0));
  EXPECT_EQ(phase.allocations, 1U);
  EXPECT_EQ(phase.failures, 0U);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(limit.stats().failures, 1U) << "what the callback recovered from";
  const std::string text = csv.str();
  EXPECT_NE(text.find(",allocate,0x"), std::string::npos);
  EXPECT_NE(text.find(",8388608,0\n"), std::string::npos);
  EXPECT_EQ(text.find("allocate failure"), std::string::npos);
  for (std::byte* cached : cache) limit.free(cached, Bytes(4 << 20), StreamId(0));
}

}  // namespace
}  // namespace stowage
