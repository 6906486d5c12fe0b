#include "stowage/plan/program_cost.hpp"

#include <gtest/gtest.h>

#include "plan/interface/plan_file.hpp"

namespace stowage {
namespace {

using Kind = ProgramStep::Kind;

/// Clears of 10 and 20 bytes, copies of 1 and 2.
Plan plan_with(std::vector<ProgramStep> steps) {
  Plan plan{.graph = "net", .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  for (const std::int64_t size : {10, 20}) plan.clears.push_back({ArenaId(0), 0, Bytes(0), Bytes(size), 0, OpId(0)});
  for (const std::int64_t size : {1, 2})
    plan.copies.push_back(
        {.tensor = TensorId(0), .when = CopyMoment::before(OpId(0)), .arena = {}, .offset = {}, .size = Bytes(size)});
  plan.program = Program{std::move(steps)};
  return plan;
}

TEST(ProgramCost, CountsWhatIsDoneBesidesOps) {
  const Plan plan = plan_with({{Kind::bind, 0},
                               {Kind::fill, 0},
                               {Kind::fill, 1},
                               {Kind::copy, 1},
                               {Kind::op, 0},
                               {Kind::record, 0},
                               {Kind::wait, 0},
                               {Kind::wait, 0}});
  EXPECT_EQ(cost_of(plan), (ProgramCost{.waits = 2, .fills = 2, .filled = Bytes(30), .copies = 1, .copied = Bytes(2)}));
}

TEST(ProgramCost, OfSeveralBatchesIsTheLargestOfEach) {
  const Plan plan = plan_with({{Kind::fill, 0},
                               {Kind::fill, 1, {}, {}, 1},
                               {Kind::copy, 0, {}, {}, 2},
                               {Kind::copy, 1, {}, {}, 2},
                               {Kind::wait, 0, {}, {}, 1},
                               {Kind::wait, 0, {}, {}, 2}});
  EXPECT_EQ(cost_of(plan), (ProgramCost{.waits = 1, .fills = 2, .filled = Bytes(30), .copies = 2, .copied = Bytes(3)}));
}

TEST(ProgramCost, OfAFileIsTheSameAndUnknownWithoutAProgram) {
  GraphBuilder builder("net");
  builder.add(Tensor{.name = "x", .size = Bytes(2), .flags = TensorFlag::input});
  for (const char* const batch : {"one", "two"})
    builder.add(Op{.name = "f", .kind = "X", .inputs = {TensorId(0)}, .batch = batch});
  const Graph graph = builder.build().value();
  Plan plan = plan_with({{Kind::fill, 1, {}, {}, 1}, {Kind::copy, 0}, {Kind::copy, 1, {}, {}, 2}});
  EXPECT_EQ(cost_of(localise(graph, plan)), cost_of(plan));
  plan.program.reset();
  EXPECT_EQ(cost_of(localise(graph, plan)), std::nullopt);
  EXPECT_EQ(cost_of(plan), ProgramCost{});
}

}  // namespace
}  // namespace stowage
