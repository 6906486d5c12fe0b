#include <gtest/gtest.h>

#include "stowage/planner.hpp"

namespace stowage {
namespace {

TEST(SummaryJson, IsOneObjectOnOneLine) {
  const Summary summary{
      .name = "n\xff",
      .ops = 2,
      .tensors = 3,
      .items = 4,
      .peak = Bytes(96),
      .lower_bound = Bytes(90),
      .naive = Bytes(128),
      .weights = Bytes(64),
      .folded = Bytes(32),
      .total = Bytes(160),
      .proven_optimal = false,
      .status = "feasible",
      .solver = "best-fit",
      .strategy = {},
      .solve_ms = 1.25,
      .cost = {.waits = 5, .fills = 6, .filled = Bytes(7), .copies = 8, .copied = Bytes(9)},
      .arenas = {{.name = "a", .memory = "cpu", .kind = "shared", .size = Bytes(96), .lower_bound = Bytes(90)}}};
  EXPECT_EQ(summary_to_json(summary),
            "{\"schema\":\"stowage.summary/"
            "1\",\"name\":\"n\xEF\xBF\xBD\",\"ops\":2,\"tensors\":3,\"items\":4,\"peak_bytes\":96,"
            "\"lower_bound_bytes\":90,\"naive_bytes\":128,\"weights_bytes\":64,\"folded_bytes\":32,\"total_bytes\":160,"
            "\"proven_optimal\":false,\"padding\":\"own\",\"status\":"
            "\"feasible\",\"solver\":"
            "\"best-fit\","
            "\"solve_ms\":1.25,\"waits\":5,\"fills\":6,\"filled_bytes\":7,\"copies\":8,\"copied_bytes\":9,\"arenas\":[{"
            "\"name\":\"a\",\"memory\":\"cpu\",\"kind\":\"shared\",\"size\":96,\"lower_"
            "bound\":90,"
            "\"proven_optimal\":false}]}\n");
}

}  // namespace
}  // namespace stowage
