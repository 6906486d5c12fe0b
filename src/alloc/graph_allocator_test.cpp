#include "stowage/alloc/graph_allocator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/verify.hpp"
#include "support/builders/allocator_graphs.hpp"

namespace stowage {
namespace {

using testing::chain;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::layers;
using testing::Sketch;
using testing::steady;

/// The plan has no findings for the graph as served: with one memory per type and the types' alignments.
void expect_verified(const GraphAllocator& allocator, const Graph& graph, const Allocation& allocation) {
  EXPECT_THAT(verify(*allocator.as_served(graph), allocation.plan), IsEmpty());
}

TEST(GraphAllocator, GivesEveryTensorAnAddressInOneBuffer) {
  auto sim = SimDevice::make({.alignment = Bytes(64)});
  GraphAllocator allocator(sim->buffer_type(), steady());
  EXPECT_EQ(allocator.buffer_size(0), Bytes(0));
  EXPECT_EQ(allocator.buffer_count(0), 0U);
  const Graph graph = chain(64);
  const Result<const Allocation*> allocation = allocator.allocate(graph);
  ASSERT_TRUE(allocation) << to_string(allocation.error());
  EXPECT_EQ(allocator.buffer_size(0), Bytes(128));
  EXPECT_EQ(allocator.buffer_count(0), 1U);
  for (const Address& address : (*allocation)->tensors) {
    EXPECT_EQ(address.buffer, &allocator.buffer(0, 0));
    EXPECT_LE(address.offset, Bytes(64));
    EXPECT_EQ(address.data(), allocator.buffer(0, 0).base() + address.offset.value());
  }
  expect_verified(allocator, graph, **allocation);
  EXPECT_EQ(to_string(allocator.last_replan()), "first");
}

TEST(GraphAllocator, ReserveMakesTheBuffersAndAllocateThenTakesNothing) {
  auto sim = SimDevice::make();
  GraphAllocator allocator(sim->buffer_type(), steady());
  ASSERT_TRUE(allocator.reserve(chain(1024)));
  EXPECT_EQ(allocator.buffer_size(0), Bytes(2048));
  const std::uint64_t calls = sim->calls();
  ASSERT_TRUE(allocator.allocate(chain(1024)));
  EXPECT_EQ(allocator.last_replan(), Replan{});
  EXPECT_EQ(sim->calls(), calls);
  const GraphAllocatorCounters expected{.plans = 1, .hits = 1, .buffer_allocations = 1, .growths = 1};
  EXPECT_EQ(allocator.counters(), expected);
}

TEST(GraphAllocator, ConstantsVariablesExternalsAndTheirViewsAreNotItsBusiness) {
  Sketch s;
  const TensorId weight = s.tensor("weight", 64, TensorFlag::constant);
  const TensorId cache = s.tensor("cache", 64, TensorFlag::variable);
  const TensorId elsewhere = s.tensor("elsewhere", 64, TensorFlag::external);
  const TensorId row = s.view("row", 8, cache, 8);
  const TensorId unused = s.tensor("unused", 64);
  const TensorId y = s.tensor("y", 16, TensorFlag::output);
  s.op({weight, elsewhere, row}, {y});
  GraphAllocator allocator(cpu_device().buffer_type(), steady());
  const Allocation& allocation = **allocator.allocate(s.build());
  for (const TensorId tensor : {weight, cache, elsewhere, row, unused}) {
    EXPECT_EQ(allocation.tensors[tensor.index()], Address{}) << tensor.index();
    EXPECT_EQ(allocation.tensors[tensor.index()].data(), nullptr);
  }
  EXPECT_EQ(allocation.tensors[y.index()].buffer, &allocator.buffer(0, 0));
  EXPECT_EQ(allocator.buffer_size(0), Bytes(64)) << "y, rounded up to the alignment";
}

TEST(GraphAllocator, WorkspacesHaveAddressesToo) {
  Sketch s;
  const TensorId x = s.tensor("x", 64, TensorFlag::input);
  const TensorId y = s.tensor("y", 64, TensorFlag::output);
  s.op({.name = "a",
        .kind = "X",
        .inputs = {x},
        .outputs = {y},
        .workspaces = {{.size = Bytes(0)}, {.size = Bytes(32)}}});
  auto sim = SimDevice::make({.alignment = Bytes(1)});
  GraphAllocator allocator(sim->buffer_type(), steady());
  const Allocation& allocation = **allocator.allocate(s.build());
  EXPECT_EQ(allocation.workspaces.size(), 2U);
  EXPECT_EQ(allocation.workspace(OpId(0), 0), Address{});
  EXPECT_EQ(allocation.workspace(OpId(0), 1).buffer, &allocator.buffer(0, 0));
  EXPECT_EQ(allocator.buffer_size(0), Bytes(64 + 64 + 32));
}

// ----------------------------------------------------------------------------------------------------------- matching

TEST(GraphAllocator, SmallerGraphsOfTheSameStructureNeedNoPlan) {
  auto sim = SimDevice::make();
  GraphAllocator allocator(sim->buffer_type(), steady());
  ASSERT_TRUE(allocator.reserve(layers(4, 512)));
  const std::uint64_t calls = sim->calls();
  for (std::int64_t batch = 1; batch <= 100; ++batch) {
    const Graph smaller = layers(4, batch);
    const Result<const Allocation*> allocation = allocator.allocate(smaller);
    ASSERT_TRUE(allocation) << to_string(allocation.error());
    expect_verified(allocator, smaller, **allocation);
  }
  EXPECT_EQ(sim->calls(), calls);
  EXPECT_EQ(allocator.counters().plans, 1U);
  EXPECT_EQ(allocator.counters().fits_smaller, 100U);
  EXPECT_EQ(allocator.counters().growths, 1U);
}

TEST(GraphAllocator, FiveGraphsShareOneSetOfBuffersHoweverOftenTheyTakeTurns) {
  auto sim = SimDevice::make();
  GraphAllocator allocator(sim->buffer_type(), steady());
  const std::vector<Graph> graphs = {layers(1, 128), layers(2, 64), layers(3, 32), chain(100'000), chain(7)};
  for (const Graph& graph : graphs) ASSERT_TRUE(allocator.reserve(graph));
  const std::uint64_t calls = sim->calls();
  for (int round = 0; round < 10'000; ++round) {
    const Result<const Allocation*> allocation = allocator.allocate(graphs[static_cast<std::size_t>(round) % 5]);
    ASSERT_TRUE(allocation) << to_string(allocation.error());
    ASSERT_EQ((*allocation)->tensors.back().buffer, &allocator.buffer(0, 0));
  }
  EXPECT_EQ(sim->calls(), calls);
  EXPECT_EQ(allocator.counters().replans, 0U);
  EXPECT_EQ(allocator.counters().hits + allocator.counters().fits_smaller, 10'000U);
}

TEST(GraphAllocator, OneTypePlansLargerGraphsByItselfAndSaysWhy) {
  auto sim = SimDevice::make({.alignment = Bytes(1)});
  GraphAllocator allocator(sim->buffer_type(), steady());
  ASSERT_TRUE(allocator.allocate(chain(64)));
  ASSERT_TRUE(allocator.allocate(chain(65)));
  EXPECT_EQ(allocator.last_replan(), (Replan{.reason = ReplanReason::size, .tensor = TensorId(0)}));
  EXPECT_EQ(to_string(allocator.last_replan()), "size: tensor 0");
  EXPECT_EQ(allocator.buffer_size(0), Bytes(130));
  EXPECT_EQ(allocator.counters().replans, 2U);
  EXPECT_EQ(allocator.counters().growths, 2U);
  EXPECT_EQ(sim->in_use(), Bytes(130)) << "the buffer that was replaced is gone";
  EXPECT_EQ(allocator.graph_count(), 2U);
}

/// One graph, changed in one respect at a time.
GraphDescription changeable() {
  GraphDescription graph{.name = "g", .memories = {{.name = "m"}, {.name = "n"}}, .tensors = {}, .ops = {}};
  for (const char* name : {"x", "a", "b", "y"}) graph.tensors.push_back({.name = name, .size = Bytes(64)});
  graph.tensors[0].flags = TensorFlag::input;
  graph.tensors[3].flags = TensorFlag::output;
  graph.tensors.push_back({.name = "v", .size = Bytes(16), .view_of = ViewOf{TensorId(1), Bytes(16)}});
  graph.ops.push_back({.name = "0", .kind = "X", .inputs = {TensorId(0)}, .outputs = {TensorId(1)}});
  graph.ops.push_back({.name = "1",
                       .kind = "X",
                       .inputs = {TensorId(1), TensorId(4)},
                       .outputs = {TensorId(2)},
                       .workspaces = {{.size = Bytes(8)}}});
  graph.ops.push_back(
      {.name = "2", .kind = "X", .inputs = {TensorId(2)}, .outputs = {TensorId(3)}, .in_place = {{0, 0}}});
  return graph;
}

Replan after(const std::function<void(GraphDescription&)>& change) {
  GraphAllocator allocator({&cpu_device().buffer_type(), &cpu_device().buffer_type()}, steady());
  EXPECT_TRUE(allocator.allocate(*Graph::build(changeable())));
  GraphDescription changed = changeable();
  change(changed);
  const Graph graph = *Graph::build(changed);
  const Result<const Allocation*> allocation = allocator.allocate(graph);
  EXPECT_TRUE(allocation);
  expect_verified(allocator, graph, **allocation);
  return allocator.last_replan();
}

Replan about(ReplanReason reason, std::optional<std::size_t> tensor, std::optional<std::size_t> op) {
  Replan replan{.reason = reason};
  if (tensor) replan.tensor = TensorId(*tensor);
  if (op) replan.op = OpId(*op);
  return replan;
}

TEST(GraphAllocator, WhatDoesNotMatterDoesNotReplan) {
  EXPECT_EQ(after([](GraphDescription& g) { g.name = "another"; }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors[0].name = "another"; }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors[0].shape = {8, 8}; }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors[0].dtype = "f16"; }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[0].kind = "ANOTHER"; }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[0].cost = 3; }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[0].flops = 3; }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[0].recompute = false; }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[0].origin = OpId(7); }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[0].layer = g.ops[0].source = "another"; }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors[0].origin = TensorId(7); }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.memories[0].bandwidth = 7; }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors[4].view_of->offset = Bytes(48); }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors[0].size = Bytes(1); }), Replan{});
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[1].workspaces[0].size = Bytes(0); }), Replan{});
}

TEST(GraphAllocator, WhatMattersReplansAndSaysWhatItWas) {
  using enum ReplanReason;
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[2].inputs[0] = TensorId(1); }), about(structure, {}, 2));
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[2].in_place.clear(); }), about(structure, {}, 2));
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[0].stream = StreamId(1); }), about(structure, {}, 0));
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[2].after = {OpId(0)}; }), about(structure, {}, 2));
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[1].workspaces.clear(); }), about(structure, {}, 1));
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors.push_back({.name = "z", .size = Bytes(1)}); }),
            about(structure, {}, {}));
  EXPECT_EQ(after([](GraphDescription& g) { g.apart = {{TensorId(0), TensorId(1)}}; }), about(structure, {}, {}));
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors[4].view_of->tensor = TensorId(0); }), about(structure, 4, {}));
  EXPECT_EQ(after([](GraphDescription& g) { g.memories[0].alignment = Bytes(128); }), about(memory, {}, {}));
  EXPECT_EQ(after([](GraphDescription& g) { g.memories[0].max_size = Bytes(128); }), about(memory, {}, {}));
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors[2].memory = MemoryId(1); }), about(memory, 2, {}));
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors[2].alignment = Bytes(4096); }), about(memory, 2, {}));
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[1].workspaces[0].alignment = Bytes(16); }), about(memory, {}, 1));
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors[2].flags = TensorFlag::output; }), about(flags, 2, {}));
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[1].no_reuse = true; }), about(flags, {}, 1));
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[1].workspaces[0].no_reuse = true; }), about(flags, {}, 1));
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors[1].size = Bytes(65); }), about(size, 1, {}));
  EXPECT_EQ(after([](GraphDescription& g) { g.ops[1].workspaces[0].size = Bytes(9); }), about(size, {}, 1));
  EXPECT_EQ(after([](GraphDescription& g) { g.tensors[2].size = Bytes(32); }), about(in_place, 3, 2));
}

TEST(GraphAllocator, AViewThatThePlanReliesOnMayNotMove) {
  const auto graph = [](std::int64_t offset) {
    Sketch s;
    const TensorId x = s.tensor("x", 64, TensorFlag::input);
    const TensorId v = s.view("v", 32, x, offset);
    const TensorId y = s.tensor("y", 32, TensorFlag::output);
    s.op({v}, {y}, {{0, 0}});
    return s.build();
  };
  auto sim = SimDevice::make({.alignment = Bytes(1)});
  GraphAllocator allocator(sim->buffer_type(), steady());
  ASSERT_TRUE(allocator.allocate(graph(0)));
  EXPECT_EQ(allocator.buffer_size(0), Bytes(64));
  ASSERT_TRUE(allocator.allocate(graph(32)));
  EXPECT_EQ(allocator.last_replan(), about(ReplanReason::view, 1, 0));
}

TEST(GraphAllocator, WhatSharesTheBytesOfAnOutputInPlaceMustFitIntoTheInputToo) {
  // y overwrites x, the start of `base`, and z begins where y does.
  const auto graph = [](std::int64_t size) {
    Sketch s;
    const TensorId base = s.tensor("base", 16, TensorFlag::input);
    const TensorId x = s.view("x", size, base, 0);
    const TensorId y = s.tensor("y", size);
    const TensorId z = s.tensor("z", 16, TensorFlag::output);
    s.op({x}, {y}, {{0, 0}});
    s.op({.name = "1", .kind = "X", .inputs = {y}, .outputs = {z}, .aliases = {{0, 0, Bytes(0)}}});
    return s.build();
  };
  auto sim = SimDevice::make({.alignment = Bytes(1)});
  GraphAllocator allocator(sim->buffer_type(), steady());
  ASSERT_TRUE(allocator.allocate(graph(16)));
  EXPECT_EQ(allocator.buffer_size(0), Bytes(16));
  const Graph smaller = graph(8);
  const Result<const Allocation*> allocation = allocator.allocate(smaller);
  ASSERT_TRUE(allocation);
  EXPECT_EQ(allocator.last_replan(), about(ReplanReason::in_place, 2, 0));
  expect_verified(allocator, smaller, **allocation);
}

TEST(GraphAllocator, AViewThatIsKeptApartMayNotMove) {
  const auto graph = [](std::int64_t offset) {
    GraphDescription description{.name = "g", .memories = {}, .tensors = {}, .ops = {}};
    description.tensors = {{.name = "x", .size = Bytes(64), .flags = TensorFlag::input},
                           {.name = "v", .size = Bytes(32), .view_of = ViewOf{TensorId(0), Bytes(offset)}},
                           {.name = "a", .size = Bytes(8)},
                           {.name = "y", .size = Bytes(32), .flags = TensorFlag::output}};
    description.ops = {{.name = "0", .kind = "X", .inputs = {TensorId(1)}, .outputs = {TensorId(2)}},
                       {.name = "1", .kind = "X", .inputs = {TensorId(2)}, .outputs = {TensorId(3)}}};
    description.apart = {{TensorId(3), TensorId(1)}};
    return *Graph::build(std::move(description));
  };
  auto sim = SimDevice::make({.alignment = Bytes(1)});
  GraphAllocator allocator(sim->buffer_type(), steady());
  ASSERT_TRUE(allocator.allocate(graph(0)));
  ASSERT_TRUE(allocator.allocate(graph(0)));
  EXPECT_EQ(allocator.last_replan(), Replan{});
  ASSERT_TRUE(allocator.allocate(graph(32)));
  EXPECT_EQ(allocator.last_replan(), about(ReplanReason::view, 1, {}));
}

TEST(GraphAllocator, AGraphFitsItsOwnPlanThoughSmallerInputsLieWhereTheOutputDoes) {
  // y takes over x in place; v, a view of its start, and e, which has no bytes, may lie at the same offset.
  Sketch s;
  const TensorId x = s.tensor("x", 160, TensorFlag::input);
  const TensorId v = s.view("v", 56, x, 0);
  const TensorId e = s.tensor("e", 0, TensorFlag::input);
  const TensorId y = s.tensor("y", 160, TensorFlag::output);
  s.op({x, v, e}, {y}, {{0, 0}, {0, 1}, {0, 2}});
  const Graph graph = s.build();
  const auto type = make_cpu_buffer_type("other", {}).value();
  GraphAllocator allocator({&cpu_device().buffer_type(), type.get()}, steady());
  ASSERT_TRUE(allocator.reserve(graph));
  EXPECT_TRUE(allocator.allocate(graph)) << to_string(allocator.last_replan());
}

TEST(GraphAllocator, KeepsAsManyPlansAsItWasToldAndForgetsTheOldest) {
  GraphAllocatorOptions options = steady();
  options.max_graphs = 2;
  GraphAllocator allocator(cpu_device().buffer_type(), options);
  for (const int count : {1, 2, 1, 3}) ASSERT_TRUE(allocator.allocate(layers(count, 8)));
  EXPECT_EQ(allocator.graph_count(), 2U);
  EXPECT_EQ(allocator.counters().plans, 3U);
  ASSERT_TRUE(allocator.allocate(layers(1, 8)));
  EXPECT_EQ(allocator.counters().plans, 3U);
  ASSERT_TRUE(allocator.allocate(layers(2, 8)));
  EXPECT_EQ(allocator.counters().plans, 4U);
}

// ------------------------------------------------------------------------------------------------------ several types

/// x in memory 0, y in memory 1.
Graph across(std::int64_t size) {
  GraphBuilder builder("across");
  builder.add(Memory{.name = "near"});
  builder.add(Memory{.name = "far"});
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(size), .flags = TensorFlag::input});
  const TensorId m = builder.add(Tensor{.name = "m", .size = Bytes(size)});
  const TensorId y =
      builder.add(Tensor{.name = "y", .size = Bytes(size), .memory = MemoryId(1), .flags = TensorFlag::output});
  builder.add(Op{.name = "0", .kind = "X", .inputs = {x}, .outputs = {m}});
  builder.add(Op{.name = "1", .kind = "X", .inputs = {m}, .outputs = {y}, .in_place = {{0, 0}}});
  return *builder.build();
}

TEST(GraphAllocator, SeveralTypesMustBeReservedFirstAndNothingIsTouched) {
  auto near = SimDevice::make({.id = DeviceId(1), .name = "near", .alignment = Bytes(1)});
  auto far = SimDevice::make({.id = DeviceId(2), .name = "far", .alignment = Bytes(1)});
  GraphAllocator allocator({&near->buffer_type(), &far->buffer_type()}, steady());
  const Result<const Allocation*> refused = allocator.allocate(across(64));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_reserved);
  EXPECT_THAT(refused.error().message, HasSubstr("first"));
  EXPECT_EQ(near->calls() + far->calls(), 0U);

  ASSERT_TRUE(allocator.reserve(across(64)));
  EXPECT_EQ(allocator.buffer_size(0), Bytes(128));
  EXPECT_EQ(allocator.buffer_size(1), Bytes(64));
  const Allocation before = **allocator.allocate(across(64));
  EXPECT_EQ(before.tensors[2].buffer, &allocator.buffer(1, 0));
  const std::uint64_t calls = near->calls() + far->calls();
  EXPECT_EQ(allocator.allocate(across(65)).error().code, ErrorCode::not_reserved);
  EXPECT_EQ(allocator.last_replan(), about(ReplanReason::size, 0, {}));
  EXPECT_EQ(near->calls() + far->calls(), calls);
  EXPECT_EQ((*allocator.allocate(across(64)))->tensors, before.tensors);
  EXPECT_EQ(allocator.counters().refusals, 2U);
}

TEST(GraphAllocator, TheSameTypeTwiceSharesOneArenaAndOneBuffer) {
  auto sim = SimDevice::make({.alignment = Bytes(1)});
  GraphAllocator allocator({&sim->buffer_type(), &sim->buffer_type()}, steady());
  const Graph graph = across(64);
  const Result<const Allocation*> allocation = allocator.allocate(graph);
  ASSERT_TRUE(allocation) << "there is only one type, so no reserve is needed";
  EXPECT_EQ(allocator.buffer_size(0), Bytes(128)) << "in place across both memories, because they are one";
  EXPECT_EQ(allocator.buffer_size(1), Bytes(0));
  EXPECT_EQ(allocator.buffer_count(1), 0U);
  EXPECT_EQ((*allocation)->tensors[1], (*allocation)->tensors[2]);
  expect_verified(allocator, graph, **allocation);
  EXPECT_THAT(*allocator.reserve_sizes(graph), ElementsAre(Bytes(128), Bytes(0)));
}

TEST(GraphAllocator, ATypeWithoutTensorsStillHasABuffer) {
  auto near = SimDevice::make({.id = DeviceId(1)});
  auto far = SimDevice::make({.id = DeviceId(2)});
  GraphAllocator allocator({&near->buffer_type(), &far->buffer_type()}, steady());
  ASSERT_TRUE(allocator.reserve(chain(64)));
  EXPECT_EQ(allocator.buffer_size(1), Bytes(0));
  ASSERT_EQ(allocator.buffer_count(1), 1U);
  EXPECT_EQ(allocator.buffer(1, 0).size(), Bytes(0));
  EXPECT_EQ(&allocator.buffer(1, 0).type(), &far->buffer_type());
  ASSERT_TRUE(allocator.allocate(chain(64)));
}

TEST(GraphAllocator, MoreMemoriesThanTypesIsAnError) {
  GraphAllocator allocator(cpu_device().buffer_type(), steady());
  EXPECT_EQ(allocator.allocate(across(64)).error().code, ErrorCode::invalid);
  EXPECT_EQ(allocator.reserve(across(64)).error().code, ErrorCode::invalid);
  EXPECT_EQ(allocator.reserve_sizes(across(64)).error().code, ErrorCode::invalid);
}

// ----------------------------------------------------------------------------------------------- alignment and chunks

TEST(GraphAllocator, AddressesAreAlignedWhateverTheBase) {
  for (const std::int64_t skew : {0, 1, 40, 255}) {
    auto sim = SimDevice::make({.alignment = Bytes(256), .skew = Bytes(skew)});
    GraphAllocator allocator(sim->buffer_type(), steady());
    Sketch s;
    const TensorId x = s.tensor("x", 100, TensorFlag::input);
    const TensorId y = s.tensor("y", 100, TensorFlag::output);
    const TensorId z =
        s.tensor({.name = "z", .size = Bytes(10), .alignment = Bytes(4096), .flags = TensorFlag::output});
    s.op({x}, {y, z});
    const Graph graph = s.build();
    const Allocation& allocation = **allocator.allocate(graph);
    for (const TensorId tensor : {x, y}) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(allocation.tensors[tensor.index()].data()) % 256, 0U) << skew;
    }
    const Address& last = allocation.tensors[z.index()];
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(last.data()) % 4096, 0U) << skew;
    for (const Address& address : allocation.tensors) {
      EXPECT_TRUE(address.buffer->fill({address.offset, address.offset + Bytes(10)}, 1)) << "inside the buffer";
    }
    EXPECT_THAT(sim->violations(), IsEmpty());
  }
}

/// Three tensors of `size` that are live at the same time.
Graph three(std::int64_t size) {
  Sketch s;
  const TensorId a = s.tensor("a", size, TensorFlag::input);
  const TensorId b = s.tensor("b", size, TensorFlag::input);
  const TensorId c = s.tensor("c", size, TensorFlag::output);
  s.op({a, b}, {c});
  return s.build();
}

TEST(GraphAllocator, SplitsAtTheLargestBufferAndSaysSoWhenATensorIsLarger) {
  auto sim = SimDevice::make({.alignment = Bytes(1), .max_size = Bytes(256)});
  GraphAllocator allocator(sim->buffer_type(), steady());
  const Graph graph = three(100);
  const Allocation& allocation = **allocator.allocate(graph);
  EXPECT_EQ(allocator.buffer_count(0), 2U);
  EXPECT_EQ(allocator.buffer_size(0), Bytes(300));
  expect_verified(allocator, graph, allocation);
  const Result<const Allocation*> larger = allocator.allocate(three(257));
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(larger.error().message, HasSubstr("sim: cannot allocate 257 bytes"));
}

TEST(GraphAllocator, UnalignedBasesLeaveLessOfTheLargestBuffer) {
  auto sim = SimDevice::make({.alignment = Bytes(64), .skew = Bytes(8), .max_size = Bytes(256)});
  GraphAllocator allocator(sim->buffer_type(), steady());
  const Graph graph = three(128);
  const Result<const Allocation*> allocation = allocator.allocate(graph);
  ASSERT_TRUE(allocation) << to_string(allocation.error());
  EXPECT_EQ(allocator.buffer_count(0), 3U);
  expect_verified(allocator, graph, **allocation);
}

TEST(GraphAllocator, AliasesKeepTheirDistancesUnderAStricterAlignment) {
  GraphBuilder builder("alias");
  builder.add(Memory{.name = "m", .alignment = Bytes(8)});
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(64), .flags = TensorFlag::input});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(16), .flags = TensorFlag::output});
  builder.add(Op{.name = "0", .kind = "X", .inputs = {x}, .outputs = {y}, .aliases = {{0, 0, Bytes(24)}}});
  const Graph graph = *builder.build();
  auto sim = SimDevice::make({.alignment = Bytes(256)});
  GraphAllocator allocator(sim->buffer_type(), steady());
  const Result<const Allocation*> allocation = allocator.allocate(graph);
  ASSERT_TRUE(allocation) << to_string(allocation.error());
  EXPECT_EQ((*allocation)->tensors[1].offset, (*allocation)->tensors[0].offset + Bytes(24));
  expect_verified(allocator, graph, **allocation);
}

TEST(GraphAllocator, CapacityThatIsTooSmallIsOutOfMemory) {
  GraphAllocatorOptions options = steady();
  options.plan.capacity = Bytes(127);
  GraphAllocator allocator(cpu_device().buffer_type(), options);
  const Result<const Allocation*> allocation = allocator.allocate(chain(64));
  ASSERT_FALSE(allocation);
  EXPECT_EQ(allocation.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(allocation.error().message, HasSubstr("needs at least 128 bytes, 1 more than the 127 available"));
}

TEST(GraphAllocator, NoTimeAtAllStillGivesAPlan) {
  GraphAllocatorOptions options;
  options.plan.time_limit = std::chrono::nanoseconds(0);
  GraphAllocator allocator(cpu_device().buffer_type(), options);
  const Graph graph = layers(8, 64);
  const Result<const Allocation*> allocation = allocator.allocate(graph);
  ASSERT_TRUE(allocation) << to_string(allocation.error());
  expect_verified(allocator, graph, **allocation);
}

TEST(GraphAllocator, MovesWithItsBuffers) {
  GraphAllocator first(cpu_device().buffer_type(), steady());
  const std::byte* const data = (*first.allocate(chain(64)))->tensors[0].data();
  GraphAllocator second = std::move(first);
  EXPECT_EQ((*second.allocate(chain(64)))->tensors[0].data(), data);
}

}  // namespace
}  // namespace stowage
