#include "stowage/alloc/scheduler.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"

namespace stowage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr StreamId kStream{0};

/// Backend 0 is a device, backend 1 the CPU. x (host) → a (device) → y (host), 4 bytes each; each op adds one to every
/// byte.
class SchedulerTest : public ::testing::Test {
 protected:
  SchedulerTest() {
    GraphBuilder builder("test");
    x_ = builder.add(Tensor{.name = "x", .size = Bytes(4), .flags = TensorFlag::input});
    a_ = builder.add(Tensor{.name = "a", .size = Bytes(4)});
    y_ = builder.add(Tensor{.name = "y", .size = Bytes(4), .flags = TensorFlag::output});
    builder.add(Op{.name = "a", .kind = "DEVICE", .inputs = {x_}, .outputs = {a_}});
    builder.add(Op{.name = "y", .kind = "HOST", .inputs = {a_}, .outputs = {y_}});
    graph_ = std::make_unique<Graph>(builder.build().value());
  }

  std::vector<Backend> backends() {
    const auto on = [](std::string kind) {
      return [kind](const Graph& graph, OpId op) { return graph.op(op).kind == kind; };
    };
    return {{.name = "sim", .memory = &device_->buffer_type(), .device = device_.get(), .supports = on("DEVICE")},
            {.name = "cpu", .memory = &cpu_device().buffer_type(), .device = &cpu_device(), .supports = on("HOST")}};
  }

  static void increment(const std::byte* from, std::byte* to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::byte>(std::to_integer<int>(from[i]) + 1);
  }

  Status work(Scheduler& scheduler, std::size_t split) {
    order_.push_back(scheduler.partition().splits[split].backend);
    if (order_.back() == 1) {
      const TensorId copy = *scheduler.partition().graph.op(scheduler.partition().ops[1]).inputs[0];
      increment(scheduler.address(copy), scheduler.address(y_), 4);
      return Done{};
    }
    const TensorId copy = *scheduler.partition().graph.op(scheduler.partition().ops[0]).inputs[0];
    const auto compute = [](std::span<const std::vector<std::byte>> in, std::span<std::vector<std::byte>> out) {
      increment(in[0].data(), out[0].data(), 4);
    };
    return device_->launch_kernel(
        kStream, {{{scheduler.address(copy), Bytes(4)}}, {{scheduler.address(a_), Bytes(4)}}, compute});
  }

  Status run(Scheduler& scheduler) {
    return scheduler.run([&](std::size_t split) { return work(scheduler, split); });
  }

  void write(Scheduler& scheduler, int value) { std::memset(scheduler.address(x_), value, 4); }

  std::unique_ptr<SimDevice> device_ = SimDevice::make();
  std::unique_ptr<Graph> graph_;
  TensorId x_, a_, y_;
  std::vector<std::size_t> order_;
};

TEST_F(SchedulerTest, SplitsRunInOrderWithTheirValuesBroughtToThem) {
  Scheduler scheduler(backends());
  ASSERT_TRUE(scheduler.allocate(*graph_));
  ASSERT_TRUE(scheduler.begin());
  write(scheduler, 5);
  ASSERT_TRUE(run(scheduler));
  ASSERT_TRUE(scheduler.synchronize());
  EXPECT_THAT(order_, ElementsAre(0U, 1U));
  EXPECT_EQ(scheduler.address(y_)[3], std::byte{7});
  EXPECT_EQ(scheduler.counters().copies, 2U);
  EXPECT_EQ(scheduler.counters().copied, Bytes(8));
  EXPECT_EQ(scheduler.counters().staged, 0U);
  EXPECT_GT(scheduler.buffer_size(0), Bytes(0));
  EXPECT_EQ(scheduler.staging_size(), Bytes(0)) << "the host sees one side of every copy";
}

TEST_F(SchedulerTest, NothingRunsBeforeSomethingIsAllocated) {
  Scheduler scheduler(backends());
  EXPECT_EQ(scheduler.begin().error().code, ErrorCode::not_reserved);
  EXPECT_EQ(run(scheduler).error().message, "no graph is allocated");
  ASSERT_TRUE(scheduler.reserve(*graph_));
  EXPECT_FALSE(run(scheduler)) << "reserved is not allocated";
}

TEST_F(SchedulerTest, AfterReserveAllocateTakesNothing) {
  Scheduler scheduler(backends());
  ASSERT_TRUE(scheduler.reserve(*graph_));
  const std::uint64_t before = device_->calls(SimCall::allocate);
  ASSERT_TRUE(scheduler.allocate(*graph_));
  ASSERT_TRUE(scheduler.allocate(*graph_));
  EXPECT_EQ(device_->calls(SimCall::allocate), before);
  EXPECT_EQ(scheduler.counters().partitions, 1U);
}

TEST_F(SchedulerTest, GraphsTakeTurnsWithoutBeingPartitionedOrAllocatedAgain) {
  GraphDescription description = graph_->description();
  for (Tensor& tensor : description.tensors) tensor.size = Bytes(1000);
  const Graph other = Graph::build(description).value();
  Scheduler scheduler(backends());
  ASSERT_TRUE(scheduler.reserve(other));
  ASSERT_TRUE(scheduler.reserve(*graph_));
  const std::uint64_t before = device_->calls(SimCall::allocate);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(scheduler.allocate(i % 2 == 0 ? other : *graph_));
    ASSERT_TRUE(scheduler.begin());
    write(scheduler, i);
    ASSERT_TRUE(run(scheduler));
    ASSERT_TRUE(scheduler.synchronize());
    EXPECT_EQ(scheduler.address(y_)[0], static_cast<std::byte>(i + 2));
  }
  EXPECT_EQ(scheduler.counters().partitions, 2U);
  EXPECT_EQ(device_->calls(SimCall::allocate), before);
}

TEST_F(SchedulerTest, EachGraphHasPinsAndHomesOfItsOwn) {
  std::vector<Backend> anywhere = backends();
  for (Backend& backend : anywhere) backend.supports = {};
  GraphDescription description = graph_->description();
  description.name = "other";
  const Graph other = Graph::build(description).value();
  const auto adapt = [](const Graph& graph, PartitionOptions& options) {
    options.pins = {{OpId(0), graph.name() == "other" ? 1U : 0U}};
    options.input_sets = 7;
  };
  Scheduler scheduler(anywhere, {.adapt = adapt});
  ASSERT_TRUE(scheduler.allocate(*graph_));
  EXPECT_EQ(scheduler.partition().backends[scheduler.partition().ops[0].index()], 0U);
  ASSERT_TRUE(scheduler.allocate(other));
  EXPECT_EQ(scheduler.partition().backends[scheduler.partition().ops[0].index()], 1U);
  EXPECT_THAT(scheduler.partition().input_sets, IsEmpty());
}

TEST_F(SchedulerTest, SizesAreKnownBeforeAnythingIsAllocated) {
  Scheduler scheduler(backends());
  const Result<std::vector<Bytes>> sizes = scheduler.reserve_sizes(*graph_);
  ASSERT_TRUE(sizes);
  EXPECT_EQ(device_->calls(SimCall::allocate), 0U);
  ASSERT_TRUE(scheduler.reserve(*graph_));
  EXPECT_THAT(*sizes, ElementsAre(scheduler.buffer_size(0), scheduler.buffer_size(1)));
}

TEST_F(SchedulerTest, ErrorsOfTheWorkAreTheRuns) {
  Scheduler scheduler(backends());
  ASSERT_TRUE(scheduler.allocate(*graph_));
  const Status status = scheduler.run([](std::size_t) { return Error{ErrorCode::device, "no power", {}}; });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "no power");
}

TEST_F(SchedulerTest, AfterAFailedRunInputsAreWrittenOnlyWhenNothingIsLeftOfIt) {
  using Again = Status (Scheduler::*)();
  for (const Again again : {&Scheduler::begin, &Scheduler::synchronize}) {
    Scheduler scheduler(backends());
    ASSERT_TRUE(scheduler.allocate(*graph_));
    ASSERT_TRUE(scheduler.begin());
    write(scheduler, 5);
    device_->fail(SimCall::record, 2);
    ASSERT_FALSE(run(scheduler)) << "and x is still to be copied";
    write(scheduler, 7);
    const Status early = run(scheduler);
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().code, ErrorCode::invalid);
    EXPECT_EQ(early.error().message,
              "the last run failed: call begin or synchronize, write the inputs again, then run");
    ASSERT_TRUE((scheduler.*again)());
    write(scheduler, 7);
    ASSERT_TRUE(run(scheduler));
    ASSERT_TRUE(scheduler.synchronize());
    EXPECT_EQ(scheduler.address(y_)[0], std::byte{9});
  }
}

// --------------------------------------------------------------------------------------------------------- input sets

/// All ops run on the device, which never finishes by itself; the host writes x.
class SchedulerInputSets : public SchedulerTest {
 protected:
  Status submit(Scheduler& scheduler) {
    return scheduler.run([&](std::size_t split) -> Status {
      if (scheduler.partition().splits[split].backend != 0) return Done{};
      return work(scheduler, split);
    });
  }
};

TEST_F(SchedulerInputSets, TheNextInputsAreWrittenWhileTheDeviceWorks) {
  GraphDescription description = graph_->description();
  description.ops.pop_back();
  description.tensors[a_.index()].flags = TensorFlag::output;
  const Graph graph = Graph::build(description).value();
  Scheduler scheduler(backends(), {.partition = {.pins = {}, .input_sets = 2}});
  ASSERT_TRUE(scheduler.allocate(graph));
  std::vector<std::byte*> inputs;
  for (const int value : {1, 50}) {
    ASSERT_TRUE(scheduler.begin());
    inputs.push_back(scheduler.address(x_));
    write(scheduler, value);
    ASSERT_TRUE(submit(scheduler));
  }
  EXPECT_NE(inputs[0], inputs[1]);
  EXPECT_EQ(device_->calls(SimCall::synchronize), 0U) << "two evaluations are in flight and nothing waited";
  EXPECT_EQ(scheduler.input_set(), 1U);
  ASSERT_TRUE(scheduler.begin());
  EXPECT_EQ(device_->calls(SimCall::synchronize), 1U) << "the first set is used again";
  EXPECT_EQ(scheduler.address(x_), inputs[0]);
  std::array<std::byte, 1> result{};
  ASSERT_TRUE(device_->copy(kStream, result.data(), scheduler.address(a_), Bytes(1)));
  device_->finish_all();
  EXPECT_EQ(result[0], std::byte{51});
}

TEST_F(SchedulerInputSets, ASetWhoseWorkIsDoneIsNotWaitedFor) {
  Scheduler scheduler(backends());
  ASSERT_TRUE(scheduler.allocate(*graph_));
  ASSERT_TRUE(scheduler.begin());
  write(scheduler, 1);
  ASSERT_TRUE(run(scheduler));
  device_->finish_all();
  const std::uint64_t waits = device_->calls(SimCall::synchronize);
  ASSERT_TRUE(scheduler.begin());
  EXPECT_EQ(device_->calls(SimCall::synchronize), waits);
}

// ------------------------------------------------------------------------------------------------------------- memory

TEST_F(SchedulerTest, WhatHasAnAddressOfItsOwnMustBeBoundToBeCopied) {
  GraphDescription description = graph_->description();
  description.tensors[x_.index()].flags = TensorFlag::constant;
  const Graph graph = Graph::build(description).value();
  const PartitionOptions home{.homes = {{x_, 1}}};
  Scheduler scheduler(backends(), {.partition = home});
  const Status unbound = scheduler.allocate(graph);
  ASSERT_FALSE(unbound);
  EXPECT_EQ(unbound.error().message,
            "tensor 'x' (0) must be copied from the caller's memory, but it is not bound to an address");
  std::array<std::byte, 4> weights{std::byte{9}, std::byte{9}, std::byte{9}, std::byte{9}};
  ASSERT_TRUE(scheduler.allocate(graph, std::array{BoundTensor{x_, weights.data()}}));
  EXPECT_EQ(scheduler.address(x_), weights.data());
  ASSERT_TRUE(run(scheduler));
  ASSERT_TRUE(scheduler.synchronize());
  EXPECT_EQ(scheduler.address(y_)[0], std::byte{11});
  EXPECT_THAT(scheduler.allocate(graph, std::array{BoundTensor{TensorId(7), weights.data()}}).error().message,
              HasSubstr("tensor 7 does not exist"));
}

TEST_F(SchedulerTest, WhatIsBoundHasOneAddress) {
  GraphDescription description = graph_->description();
  description.tensors[x_.index()].flags = TensorFlag::constant;
  description.tensors.push_back({.name = "v", .size = Bytes(2), .view_of = ViewOf{x_, Bytes(2)}});
  const TensorId v(3);
  const Graph graph = Graph::build(description).value();
  const PartitionOptions home{.homes = {{x_, 1}}};
  Scheduler scheduler(backends(), {.partition = home});
  std::array<std::byte, 8> weights{};
  const Status null = scheduler.allocate(graph, std::array{BoundTensor{v, nullptr}});
  ASSERT_FALSE(null);
  EXPECT_EQ(null.error().code, ErrorCode::invalid);
  EXPECT_EQ(null.error().message, "bound: tensor 'v' (3) is bound to a null address");
  const Status two =
      scheduler.allocate(graph, std::array{BoundTensor{x_, weights.data()}, BoundTensor{v, weights.data()}});
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().message,
            "bound: tensor 'v' (3) and another tensor that shares its memory are bound to addresses that contradict "
            "each other");
  ASSERT_TRUE(
      scheduler.allocate(graph, std::array{BoundTensor{x_, weights.data()}, BoundTensor{v, weights.data() + 2}}));
  EXPECT_EQ(scheduler.address(v), weights.data() + 2);
}

TEST_F(SchedulerTest, NothingIsFreedUnderPendingWork) {
  {
    Scheduler scheduler(backends());
    ASSERT_TRUE(scheduler.allocate(*graph_));
    ASSERT_TRUE(scheduler.begin());
    write(scheduler, 1);
    ASSERT_TRUE(run(scheduler));
    GraphDescription larger = graph_->description();
    for (Tensor& tensor : larger.tensors) tensor.size = Bytes(100'000);
    ASSERT_TRUE(run(scheduler));
    ASSERT_TRUE(scheduler.allocate(Graph::build(larger).value()));
    ASSERT_TRUE(scheduler.allocate(*graph_));
    ASSERT_TRUE(run(scheduler));
  }
  EXPECT_THAT(device_->violations(), IsEmpty());
  EXPECT_EQ(device_->live_objects(), 0U);
}

TEST_F(SchedulerTest, ADeviceThatFailsDoesNotKeepTheOthersFromBeingWaitedFor) {
  const std::unique_ptr<SimDevice> other = SimDevice::make({.id = DeviceId(2), .name = "other"});
  std::vector<Backend> three = backends();
  three.insert(three.begin() + 1, {.name = "other", .memory = &other->buffer_type(), .device = other.get()});
  // x → a (sim), x → y (other), a → z (sim): at the end both have work in flight.
  GraphDescription description = graph_->description();
  description.ops[1].inputs = {x_};
  description.tensors.push_back({.name = "z", .size = Bytes(4), .flags = TensorFlag::output});
  description.ops.push_back({.name = "z", .kind = "DEVICE", .inputs = {a_}, .outputs = {TensorId(3)}});
  const Graph graph = Graph::build(description).value();
  {
    Scheduler scheduler(three, {.partition = {.pins = {{OpId(0), 0}, {OpId(1), 1}, {OpId(2), 0}}}});
    ASSERT_TRUE(scheduler.allocate(graph));
    ASSERT_TRUE(scheduler.begin());
    write(scheduler, 1);
    ASSERT_TRUE(scheduler.run([](std::size_t) { return Done{}; }));
    ASSERT_GT(other->calls(SimCall::copy), 0U);
    device_->fail(SimCall::synchronize, 1);
    const Status status = scheduler.synchronize();
    ASSERT_FALSE(status);
    EXPECT_EQ(other->calls(SimCall::synchronize), 1U);
    ASSERT_TRUE(scheduler.synchronize()) << "a second call succeeds";
    EXPECT_EQ(other->calls(SimCall::synchronize), 1U);
  }
  EXPECT_THAT(other->violations(), IsEmpty());
}

/// A constraint that needs more than addresses, put on op 0 of x -> a -> y, and what the error says about it.
struct Unserved {
  const char* name;
  void (*demand)(GraphDescription&);
  const char* message;
};

class SchedulerRefuses : public ::testing::TestWithParam<Unserved> {};

TEST_P(SchedulerRefuses, NamingOpTensorAndConstraintAndWhatServesIt) {
  GraphDescription description{.name = "test", .memories = {}, .tensors = {}, .ops = {}};
  description.tensors = {{.name = "x", .size = Bytes(4), .flags = TensorFlag::input},
                         {.name = "a", .size = Bytes(4)},
                         {.name = "y", .size = Bytes(4), .flags = TensorFlag::output}};
  description.ops = {{.name = "f", .kind = "F", .inputs = {TensorId(0)}, .outputs = {TensorId(1)}},
                     {.name = "g", .kind = "G", .inputs = {TensorId(1)}, .outputs = {TensorId(2)}}};
  GetParam().demand(description);
  const Graph graph = Graph::build(description).value();
  Scheduler scheduler({{.name = "cpu", .memory = &cpu_device().buffer_type(), .device = &cpu_device()}});
  for (const Status& status : {scheduler.reserve(graph), scheduler.allocate(graph)}) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::invalid);
    EXPECT_THAT(status.error().message, HasSubstr(GetParam().message));
    EXPECT_THAT(status.error().message, HasSubstr("run the graph of `partition` with GraphAllocator and `run`"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Constraints, SchedulerRefuses,
    ::testing::Values(
        Unserved{"groups", [](GraphDescription& graph) { graph.ops[0].contiguous_inputs = Contiguity::padded; },
                 "op 'f' (0) needs its inputs from tensor 'x' (0) on next to each other (contiguous_inputs)"},
        Unserved{"groupsOfOutputs",
                 [](GraphDescription& graph) { graph.ops[0].contiguous_outputs = Contiguity::padded; },
                 "op 'f' (0) needs its outputs from tensor 'a' (1) on next to each other (contiguous_outputs)"},
        Unserved{"fills", [](GraphDescription& graph) { graph.ops[0].zero_fill = {.outputs = {0}, .value = 7}; },
                 "op 'f' (0) needs tensor 'a' (1) filled with 7 when it starts (zero_fill)"},
        Unserved{"filledWorkspaces",
                 [](GraphDescription& graph) {
                   graph.ops[0].workspaces = {{.size = Bytes(4)}};
                   graph.ops[0].zero_fill = {.workspaces = {0}};
                 },
                 "op 'f' (0) needs workspace 0, beside tensor 'x' (0), filled with 0 when it starts (zero_fill)"},
        Unserved{"fixedAddresses", [](GraphDescription& graph) { graph.ops[0].fixed_address = true; },
                 "op 'f' (0) needs tensor 'x' (0) at the same address in every run (fixed_address)"},
        Unserved{"batches", [](GraphDescription& graph) { graph.ops[0].batch = "8"; },
                 "op 'f' (0) accesses tensor 'x' (0) in the runs of batch '8' only (batch)"},
        Unserved{"bodies",
                 [](GraphDescription& graph) {
                   graph.ops[0].control = Control::call;
                   graph.ops[0].bodies = {
                       {.tensors = {{.name = "in", .size = Bytes(4)}, {.name = "out", .size = Bytes(4)}},
                        .ops = {{.name = "h", .kind = "H", .inputs = {TensorId(0)}, .outputs = {TensorId(1)}}},
                        .inputs = {{TensorId(0), TensorId(0)}},
                        .outputs = {{TensorId(1), TensorId(1)}},
                        .carried = {}}};
                 },
                 "op 'f' (0) has bodies, which get tensor 'x' (0) (control)"},
        Unserved{"rings",
                 [](GraphDescription& graph) {
                   graph.rings = {{.name = "ring", .size = Bytes(4)}};
                   graph.ops[0].prefetch = RingId(0);
                 },
                 "op 'f' (0) fetches tensor 'x' (0) through a ring (prefetch)"},
        Unserved{"sessionMemory",
                 [](GraphDescription& graph) {
                   graph.ops[0].workspaces = {{.size = Bytes(4), .scope = WorkspaceScope::session}};
                 },
                 "op 'f' (0) keeps workspace 0, beside tensor 'x' (0), from run to run (scope \"session\")"},
        Unserved{"zeroCopy", [](GraphDescription& graph) { graph.tensors[0].flags |= TensorFlag::zero_copy; },
                 "tensor 'x' (0), which op 'f' (0) accesses, lies in a buffer of the caller (zero_copy)"}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace stowage
