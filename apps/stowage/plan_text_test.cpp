#include "plan_text.hpp"

#include <gtest/gtest.h>

namespace stowage::cli {
namespace {

/// A loop between two ops; all tensors of 64 bytes.
Graph graph_with_loop() {
  const Body body{.tensors = {{.name = "in", .size = Bytes(64)}, {.name = "out", .size = Bytes(64)}},
                  .ops = {{.name = "step", .kind = "NEG", .inputs = {TensorId(0)}, .outputs = {TensorId(1)}}},
                  .inputs = {{TensorId(0), TensorId(0)}},
                  .outputs = {{TensorId(1), TensorId(1)}},
                  .carried = {{TensorId(1), TensorId(0)}}};
  GraphBuilder builder("net");
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(64)});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(64)});
  builder.add(Op{.name = "first", .kind = "FILL", .outputs = {x}});
  builder.add(
      Op{.name = "loop", .kind = "LOOP", .inputs = {x}, .outputs = {y}, .control = Control::loop, .bodies = {body}});
  builder.add(Op{.name = "last", .kind = "USE", .inputs = {y}});
  return builder.build().value();
}

Copy copy_of(std::size_t tensor, CopyMoment when) {
  return {.tensor = TensorId(tensor),
          .when = when,
          .arena = ArenaId(0),
          .offset = Bytes(0),
          .size = Bytes(64),
          .reason = "because"};
}

Clear clear_of(std::uint8_t value, std::size_t before) {
  return {.arena = ArenaId(0), .offset = Bytes(0), .size = Bytes(64), .value = value, .before = OpId(before)};
}

TEST(PlanText, IsEmptyWhereNothingIsDemanded) { EXPECT_EQ(plan_text(graph_with_loop(), Plan{}), ""); }

TEST(PlanText, TellsWhenCopiesAreMade) {
  Plan plan;
  plan.copies = {copy_of(0, CopyMoment::before(OpId(1))), copy_of(3, CopyMoment::at_back_edge()),
                 copy_of(3, CopyMoment::at_body_end())};
  EXPECT_EQ(plan_text(graph_with_loop(), plan),
            "  copies            192   'x' before 'loop': because\n"
            "                          'out' in body 0 of 'loop' at the back edge: because\n"
            "                          'out' in body 0 of 'loop' at the end of the body: because\n");
}

TEST(PlanText, TellsWhenBytesAreCleared) {
  Plan plan;
  plan.clears = {clear_of(0, 0), clear_of(255, 2), clear_of(0, 3)};
  EXPECT_EQ(plan_text(graph_with_loop(), plan),
            "  clears            192   64 bytes to 0 at the start\n"
            "                          64 bytes to 255 before 'last'\n"
            "                          64 bytes to 0 before 'step'\n");
}

TEST(PlanText, FiguresAreThoseOfTheLargestRun) {
  using Kind = ProgramStep::Kind;
  Plan plan;
  plan.clears = {clear_of(0, 0)};
  plan.copies = {copy_of(0, CopyMoment::before(OpId(1))), copy_of(3, CopyMoment::at_back_edge())};
  plan.program = {{{Kind::fill, 0},
                   {Kind::copy, 0, {}, {}, 1},
                   {Kind::copy, 1, {}, {}, 2},
                   {Kind::wait, 0},
                   {Kind::wait, 0, {}, {}, 2},
                   {Kind::wait, 0, {}, {}, 1}}};
  EXPECT_EQ(plan_text(graph_with_loop(), plan),
            "  copies             64   'x' before 'loop': because\n"
            "                          'out' in body 0 of 'loop' at the back edge: because\n"
            "  clears             64   64 bytes to 0 at the start\n"
            "  waits               2   of streams for each other, in a run\n");
}

TEST(PlanText, ShowsTheFirstThreeOfALongList) {
  Plan plan;
  plan.bindings.assign(5, {.tensor = TensorId(0), .size = Bytes(64), .alignment = Bytes(1)});
  EXPECT_EQ(plan_text(graph_with_loop(), plan),
            "  binds             320   'x' to the caller's buffer\n"
            "                          'x' to the caller's buffer\n"
            "                          'x' to the caller's buffer\n"
            "                          and 2 more\n");
}

TEST(PlanText, CountsEdgesAndNotes) {
  Plan plan;
  plan.edges = {{OpId(0), OpId(2)}};
  plan.notes = {{.tensor = TensorId(3), .reason = "no"}};
  EXPECT_EQ(plan_text(graph_with_loop(), plan),
            "  edges               1   'first' before 'last'\n"
            "  notes               1   'out' in body 0 of 'loop': no\n");
}

}  // namespace
}  // namespace stowage::cli
