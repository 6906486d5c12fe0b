#include <gtest/gtest.h>

#include "stowage/replay.hpp"

namespace stowage {
namespace {

TEST(ReplayJson, HasTheFieldsInOrder) {
  const ReplayReport report{.allocator = "buffers",
                            .device = "sim",
                            .events = 2,
                            .peak_requested = Bytes(75),
                            .peak_reserved = Bytes(100),
                            .ns_per_event = 1.5,
                            .failures = 1,
                            .creates = 2,
                            .maps = 3,
                            .unmaps = 4,
                            .access_calls = 5,
                            .event_waits = 6};
  EXPECT_EQ(
      replay_to_json(report),
      "{\"schema\":\"stowage.replay/1\",\"allocator\":\"buffers\",\"device\":\"sim\",\"events\":2,"
      "\"peak_requested_bytes\":75,\"peak_reserved_bytes\":100,\"waste\":0.25,\"ns_per_event\":1.5,\"failures\":1,"
      "\"creates\":2,\"maps\":3,\"unmaps\":4,\"access_calls\":5,\"event_waits\":6}\n");
}

}  // namespace
}  // namespace stowage
