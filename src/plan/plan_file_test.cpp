#include "plan/interface/plan_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Tensors x 0, y 1; in the body in 2, out 3. Ops: loop 0; in the body step 1, with a workspace.
Graph loop() {
  const Body body{.tensors = {{.name = "in", .size = Bytes(64)}, {.name = "out", .size = Bytes(64)}},
                  .ops = {{.name = "step",
                           .kind = "NEG",
                           .inputs = {TensorId(0)},
                           .outputs = {TensorId(1)},
                           .workspaces = {{.size = Bytes(8)}}}},
                  .inputs = {{TensorId(0), TensorId(0)}},
                  .outputs = {{TensorId(1), TensorId(1)}},
                  .carried = {{TensorId(1), TensorId(0)}}};
  GraphBuilder builder("net");
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(64), .flags = TensorFlag::input});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(64)});
  builder.add(
      Op{.name = "loop", .kind = "LOOP", .inputs = {x}, .outputs = {y}, .control = Control::loop, .bodies = {body}});
  return builder.build().value();
}

Copy copy_of(std::size_t tensor, CopyMoment when) {
  return {.tensor = TensorId(tensor),
          .when = when,
          .arena = ArenaId(0),
          .offset = Bytes(0),
          .size = Bytes(64),
          .reason = "r"};
}

/// A plan with entries in every list, in the root and in the body.
Plan plan_of_loop() {
  Plan plan{.graph = "net", .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  plan.arenas.push_back(
      {.name = "cpu", .memory = {}, .size = Bytes(64), .regions = {Bytes(64)}, .lower_bound = Bytes(8)});
  for (const std::size_t t : {std::size_t{1}, std::size_t{3}}) {
    plan.placements.push_back({TensorId(t), ArenaId(0), 0, Bytes(8), Bytes(64)});
    plan.notes.push_back({TensorId(t), "why"});
  }
  plan.workspaces = {{OpId(1), 0, ArenaId(0), 0, Bytes(0), Bytes(8)}};
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}})
    plan.clears.push_back({ArenaId(0), 0, Bytes(0), Bytes(8), 0, OpId(k)});
  plan.copies = {copy_of(0, CopyMoment::before(OpId(0))), copy_of(2, CopyMoment::before(OpId(1))),
                 copy_of(3, CopyMoment::at_body_end()), copy_of(3, CopyMoment::at_back_edge())};
  plan.bindings = {{TensorId(0), Bytes(64), Bytes(1)}};
  plan.edges = {{OpId(0), OpId(0)}};
  return plan;
}

/// A program with a step of each kind, in the root and in the body.
Program program_of_loop() {
  using Kind = ProgramStep::Kind;
  return {{{Kind::bind, 0},
           {Kind::fill, 0, StreamId(0)},
           {Kind::copy, 0, StreamId(0)},
           {Kind::op, 0, StreamId(0)},
           {Kind::record, 0, StreamId(0), ScopeId(1)},
           {Kind::wait, 0, StreamId(3), ScopeId(1)},
           {Kind::fill, 1, StreamId(3), ScopeId(1)},
           {Kind::op, 1, StreamId(0), ScopeId(1)},
           {Kind::copy, 3, StreamId(0), ScopeId(1)}}};
}

TEST(PlanFile, AProgramSaysOnlyStreamsThatDoNotFollowFromTheGraph) {
  const Graph graph = loop();
  Plan plan = plan_of_loop();
  plan.program = program_of_loop();
  const PlanFile file = localise(graph, plan);
  const std::vector<InBody<StepInFile>>& steps = *file.program;
  EXPECT_EQ(steps[1].entry.stream, std::nullopt) << "that of op 0";
  EXPECT_EQ(steps[4].entry.stream, StreamId(0));
  EXPECT_EQ(steps[6].entry.stream, StreamId(3)) << "not that of the op";
  EXPECT_EQ(steps[7].entry.index, 0U);
  EXPECT_EQ(steps[7].body, (BodyPath{0, 0}));
  EXPECT_EQ(resolve(graph, file).plan, plan);
  EXPECT_EQ(parse_plan(plan_to_json(graph, plan), "p.json", graph).value(), plan);
}

TEST(PlanFile, BatchesOfAProgramHaveTheirNames) {
  GraphBuilder builder("net");
  for (const char* const batch : {"long", "short"}) builder.add(Op{.name = "f", .kind = "X", .batch = batch});
  const Graph graph = builder.build().value();
  Plan plan{.graph = "net", .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  plan.program = {{{ProgramStep::Kind::op, 0, {}, {}, 1}, {ProgramStep::Kind::op, 1, {}, {}, 2}}};
  PlanFile file = localise(graph, plan);
  EXPECT_EQ((*file.program)[1].entry.batch, "short");
  EXPECT_EQ(resolve(graph, file).plan, plan);
  (*file.program)[1].entry.batch = "other";
  EXPECT_THAT(resolve(graph, file).unknown, ElementsAre("program step 1 is for batch 'other', which does not exist"));
}

TEST(PlanFile, StepsOfAProgramThatNameNothingAreSaidAndLeftOut) {
  const Graph graph = loop();
  Plan plan = plan_of_loop();
  plan.program = program_of_loop();
  PlanFile file = localise(graph, plan);
  std::vector<InBody<StepInFile>>& steps = *file.program;
  steps[0].entry.index = 1;
  file.clears[0].entry.before = OpId(1);
  file.copies[0].entry.tensor = TensorId(7);
  steps[3].entry.index = 1;
  steps[5].body = {1, 0};
  const ResolvedPlan resolved = resolve(graph, file);
  EXPECT_THAT(resolved.unknown,
              ElementsAre("clear 0 is before op 1, which does not exist", "copy 0 names tensor 7, which does not exist",
                          "program step 0 names binding 1, which does not exist",
                          "program step 1 names clear 0, which does not exist",
                          "program step 2 names copy 0, which does not exist",
                          "program step 3 names op 1, which does not exist",
                          "program step 5 is in body [1, 0], which does not exist"));
  using Kind = ProgramStep::Kind;
  EXPECT_THAT(resolved.plan.program->steps, ElementsAre(ProgramStep{Kind::record, 0, StreamId(0), ScopeId(1)},
                                                        ProgramStep{Kind::fill, 0, StreamId(3), ScopeId(1)},
                                                        ProgramStep{Kind::op, 1, StreamId(0), ScopeId(1)},
                                                        ProgramStep{Kind::copy, 2, StreamId(0), ScopeId(1)}))
      << "in the numbers of what is left";
}

TEST(PlanFile, NumbersBodyByBody) {
  const PlanFile file = localise(loop(), plan_of_loop());
  const BodyPath body{0, 0};
  EXPECT_EQ(file.placements[0].entry.tensor, TensorId(1));
  EXPECT_EQ(file.placements[0].body, BodyPath());
  EXPECT_EQ(file.placements[1].entry.tensor, TensorId(1));
  EXPECT_EQ(file.placements[1].body, body);
  EXPECT_EQ(file.workspaces[0].entry.op, OpId(0));
  EXPECT_EQ(file.workspaces[0].body, body);
  EXPECT_EQ(file.clears[1].entry.before, OpId(0));
  EXPECT_EQ(file.clears[1].body, body);
  EXPECT_EQ(file.copies[1].entry.when, CopyMoment::before(OpId(0)));
  EXPECT_EQ(file.copies[2].entry.when, CopyMoment::before(OpId(1))) << "one past the last op";
  EXPECT_EQ(file.copies[3].entry.when, CopyMoment::at_back_edge());
  EXPECT_EQ(file.peak(), Bytes(64));
  EXPECT_EQ(file.lower_bound(), Bytes(8));
}

TEST(PlanFile, NamesWhatEntriesAreAbout) {
  const PlanFile file = localise(loop(), plan_of_loop());
  EXPECT_EQ(file.placements[0].name, "y");
  EXPECT_EQ(file.placements[1].name, "out");
  EXPECT_EQ(file.workspaces[0].name, "step");
  EXPECT_EQ(file.bindings[0].name, "x");
  EXPECT_EQ(file.copies[1].name, "in");
  EXPECT_EQ(file.notes[1].name, "out");
}

TEST(PlanFile, OtherNamesThanTheGraphsMeanAnotherGraph) {
  const Graph graph = loop();
  PlanFile file = localise(graph, plan_of_loop());
  file.placements[1].name = "sum";
  file.workspaces[0].name = "add";
  const ResolvedPlan resolved = resolve(graph, file);
  EXPECT_EQ(resolved.misnamed,
            "the plan is for another graph: 2 of its 10 names differ; placement 1 calls 'sum' what the graph calls "
            "'out'");
  EXPECT_THAT(resolved.unknown, IsEmpty());
  EXPECT_EQ(resolved.plan, plan_of_loop()) << "the ids exist";
  EXPECT_EQ(plan_for(graph, file).error().message, resolved.misnamed);
  EXPECT_EQ(known_part(graph, file), plan_of_loop());
}

TEST(PlanFile, NamesAreOptionalAndComparedAsFilesHaveThem) {
  GraphBuilder builder("g");
  builder.add(Tensor{.name = "a\xff", .size = Bytes(4)});
  const Graph graph = builder.build().value();
  Plan plan{.graph = "g", .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  plan.arenas.push_back({.name = "m", .memory = {}, .size = Bytes(4), .regions = {Bytes(4)}, .lower_bound = Bytes(4)});
  plan.placements = {{TensorId(0), ArenaId(0), 0, Bytes(0), Bytes(4)}};
  const std::string text = plan_to_json(graph, plan);
  EXPECT_EQ(parse_plan(text, "p.json", graph).value(), plan);
  PlanFile file = localise(graph, plan);
  file.placements[0].name.clear();
  EXPECT_EQ(plan_for(graph, file).value(), plan);
}

TEST(PlanFile, ResolvesToThePlanThatItIsOf) {
  const Graph graph = loop();
  const ResolvedPlan resolved = resolve(graph, localise(graph, plan_of_loop()));
  EXPECT_EQ(resolved.plan, plan_of_loop());
  EXPECT_THAT(resolved.unknown, IsEmpty());
}

TEST(PlanFile, IsReadAsAPlanOfItsGraphOrNotAtAll) {
  const Graph graph = loop();
  const std::string text = plan_to_json(graph, plan_of_loop());
  EXPECT_EQ(parse_plan(text, "p.json", graph).value(), plan_of_loop());
  const Graph other = Graph::build({.name = "other", .memories = {}, .tensors = {}, .ops = {}}).value();
  const Error error = parse_plan(text, "p.json", other).error();
  EXPECT_EQ(error.code, ErrorCode::invalid);
  EXPECT_EQ(error.where.file, "p.json");
  const std::shared_ptr<const PlanFile> file = parse_plan_file(text, "p.json").value();
  EXPECT_EQ(graph_name(*file), plan_of_loop().graph);
  EXPECT_EQ(plan_for(graph, *file).value(), plan_of_loop());
  EXPECT_EQ(plan_for(other, *file).error().message, error.message);
  EXPECT_TRUE(known_part(other, *file).placements.empty());
}

TEST(PlanFile, WhatTheGraphDoesNotHaveIsSaidAndLeftOut) {
  const Graph graph = loop();
  PlanFile file = localise(graph, plan_of_loop());
  file.placements[0].body = {0, 1};
  file.placements[1].entry.tensor = TensorId(2);
  file.workspaces[0].entry.index = 1;
  file.clears[0].entry.before = OpId(1);
  file.copies[0].entry.when = CopyMoment::before(OpId(1));
  file.copies[1].body = {};
  file.copies[1].entry.when = CopyMoment::at_back_edge();
  file.notes[1].entry.tensor = TensorId(9);
  const ResolvedPlan resolved = resolve(graph, file);
  EXPECT_THAT(resolved.unknown,
              ElementsAre("placement 0 is in body [0, 1], which does not exist",
                          "placement 1 names tensor 2 in body [0, 0], which does not exist",
                          "workspace placement 0 names workspace 1 of op 0 in body [0, 0], which does not exist",
                          "clear 0 is before op 1, which does not exist", "copy 0 is before op 1, which does not exist",
                          "copy 1 is at the end of a body, which does not exist",
                          "note 1 names tensor 9 in body [0, 0], which does not exist"));
  EXPECT_THAT(resolved.plan.placements, IsEmpty());
  EXPECT_EQ(resolved.plan.clears.size(), 1U);
  EXPECT_EQ(resolved.plan.copies.size(), 2U);
  EXPECT_EQ(resolved.plan.notes.size(), 1U);
}

}  // namespace
}  // namespace stowage
