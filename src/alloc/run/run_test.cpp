#include "stowage/alloc/run.hpp"

#include <algorithm>
#include <array>
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

constexpr TensorFlags kBoundInput{TensorFlag::input, TensorFlag::zero_copy};
constexpr TensorFlags kBoundOutput{TensorFlag::output, TensorFlag::zero_copy};

Tensor tensor(std::string name, std::int64_t size, TensorFlags flags = {}) {
  return {.name = std::move(name), .size = Bytes(size), .flags = flags};
}

Op op(std::string name, std::vector<std::size_t> inputs, std::vector<std::size_t> outputs) {
  Op result{.name = std::move(name), .kind = "OP"};
  for (const std::size_t input : inputs) result.inputs.push_back(TensorId(input));
  for (const std::size_t output : outputs) result.outputs.push_back(TensorId(output));
  return result;
}

Graph built(std::vector<Tensor> tensors, std::vector<Op> ops) {
  return Graph::build({"test", {{.name = "memory", .alignment = Bytes(16)}}, std::move(tensors), std::move(ops)})
      .value();
}

/// y = f(x), both in buffers of the caller.
Graph bound_graph() {
  return built({tensor("x", 64, kBoundInput), tensor("h", 64), tensor("y", 32, kBoundOutput)},
               {op("f", {0}, {1}), op("g", {1}, {2})});
}

/// Memory of the host at multiples of 16, and the errors of binding it.
class Binding : public ::testing::Test {
 protected:
  [[nodiscard]] CallerMemory at(std::size_t offset, std::int64_t size) {
    return {memory_.data() + offset, Bytes(size), cpu_device().id()};
  }
  [[nodiscard]] std::string error(TensorId id, const CallerMemory& memory) {
    const Status status = allocator_.bind(id, memory);
    EXPECT_FALSE(status);
    return status ? "" : status.error().message;
  }
  Status run(std::size_t& ops) {
    const RunOps callbacks{.run = [&](const OpCall&) -> Status {
      ++ops;
      return Done{};
    }};
    return stowage::run(graph_, *allocation_, cpu_device(), callbacks);
  }

  const TensorId x_{0};
  const TensorId h_{1};
  const TensorId y_{2};
  const Graph graph_ = bound_graph();
  GraphAllocator allocator_{cpu_device().buffer_type()};
  const Allocation* allocation_ = allocator_.allocate(graph_).value();
  alignas(64) std::array<std::byte, 1024> memory_ = {};
};

TEST_F(Binding, ARunWithoutABufferNamesTheTensorBeforeAnythingRan) {
  std::size_t ops = 0;
  ASSERT_TRUE(allocator_.bind(x_, at(0, 64)));
  const Status status = run(ops);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::invalid);
  EXPECT_EQ(status.error().message, "tensor 'y' (2) is not bound to memory, and needs 32 bytes");
  EXPECT_EQ(ops, 0U);
  ASSERT_TRUE(allocator_.bind(y_, at(64, 32)));
  EXPECT_TRUE(run(ops));
  EXPECT_EQ(ops, 2U);
}

TEST_F(Binding, GivesAddressesThatFollowTheNextBuffer) {
  ASSERT_TRUE(allocator_.bind(x_, at(0, 64)));
  EXPECT_EQ(allocation_->tensors[0].data(), memory_.data());
  ASSERT_TRUE(allocator_.bind(x_, at(128, 100)));
  EXPECT_EQ(allocation_->tensors[0].data(), memory_.data() + 128);
}

TEST_F(Binding, MemoryThatIsTooSmallMisalignedOrNullIsRefused) {
  EXPECT_THAT(error(x_, at(0, 63)), HasSubstr("tensor 'x' (0) needs 64 bytes, but is bound to 63"));
  EXPECT_THAT(error(x_, at(8, 64)), HasSubstr("tensor 'x' (0) must be aligned to 16, but is bound to"));
  EXPECT_THAT(error(x_, {nullptr, Bytes(64), DeviceId(0)}), HasSubstr("tensor 'x' (0) is bound to a null address"));
  EXPECT_EQ(allocation_->tensors[0].data(), nullptr);
}

TEST_F(Binding, MemoryOfAnotherDeviceIsRefused) {
  EXPECT_THAT(error(x_, {memory_.data(), Bytes(64), DeviceId(3)}),
              HasSubstr("tensor 'x' (0) is bound to memory of device 3, but lies in cpu, which is of device 0"));
}

TEST_F(Binding, MemoryThatOverlapsIsRefused) {
  ASSERT_TRUE(allocator_.bind(x_, at(0, 64)));
  EXPECT_THAT(error(y_, at(48, 32)), HasSubstr("tensor 'y' (2) is bound to memory that tensor 'x' (0) is bound to"));
  EXPECT_TRUE(allocator_.bind(y_, at(64, 32)));
  std::byte* const ours = allocation_->tensors[1].data();
  EXPECT_THAT(error(y_, {ours, Bytes(32), DeviceId(0)}),
              HasSubstr("tensor 'y' (2) is bound to memory of the allocator"));
  EXPECT_EQ(allocation_->tensors[2].data(), memory_.data() + 64) << "as before";
}

TEST_F(Binding, BuffersCanBeExchangedInOneCall) {
  ASSERT_TRUE(allocator_.bind(x_, at(0, 64)));
  ASSERT_TRUE(allocator_.bind(y_, at(64, 64)));
  const std::array<BoundMemory, 2> exchanged{BoundMemory{x_, at(64, 64)}, BoundMemory{y_, at(0, 64)}};
  EXPECT_TRUE(allocator_.bind(exchanged));
  const std::array<BoundMemory, 2> wrong{BoundMemory{x_, at(128, 64)}, BoundMemory{y_, at(4, 64)}};
  EXPECT_FALSE(allocator_.bind(wrong));
  EXPECT_EQ(allocation_->tensors[0].data(), memory_.data() + 64) << "all or none";
}

TEST_F(Binding, OnlyWhatThePlanBindsOrWhatHasItsOwnAddressIsBound) {
  EXPECT_THAT(error(h_, at(0, 64)),
              HasSubstr("tensor 'h' (1) is not bound by the plan, and has no address of its own"));
  EXPECT_THAT(error(TensorId(9), at(0, 64)), HasSubstr("graph 'test' has no tensor 9"));
  GraphAllocator empty(cpu_device().buffer_type());
  EXPECT_FALSE(empty.bind(x_, at(0, 64)));
}

TEST(BindingOnDevices, TheDeviceIsAskedWhoseTheAddressIs) {
  const auto sim = SimDevice::make();
  const auto other = SimDevice::make({.id = DeviceId(2)});
  const Graph graph = bound_graph();
  GraphAllocator allocator(sim->buffer_type());
  ASSERT_TRUE(allocator.allocate(graph));
  const std::unique_ptr<Buffer> own = sim->buffer_type().allocate(Bytes(64)).value();
  const std::unique_ptr<Buffer> theirs = other->buffer_type().allocate(Bytes(64)).value();
  EXPECT_TRUE(allocator.bind(TensorId(0), {own->base(), Bytes(64), sim->id()}));
  EXPECT_THAT(allocator.bind(TensorId(0), {theirs->base(), Bytes(64), sim->id()}).error().message,
              HasSubstr("which is not memory of sim"));
}

// ------------------------------------------------------------------------------------------------------------- batches

TEST(RunBatches, OnlyTheChosenBatchRuns) {
  Op one = op("one", {0}, {1});
  one.batch = "1";
  Op eight = op("eight", {0}, {2});
  eight.batch = "8";
  const Graph graph =
      built({tensor("x", 16, TensorFlag::input), tensor("a", 16), tensor("b", 16), tensor("y", 16, TensorFlag::output)},
            {one, eight, op("merge", {1, 2}, {3})});
  GraphAllocator allocator(cpu_device().buffer_type());
  const Allocation& allocation = **allocator.allocate(graph);
  std::vector<std::size_t> ran;
  const RunOps ops{.run = [&](const OpCall& call) -> Status {
    ran.push_back(call.op.index());
    return Done{};
  }};
  EXPECT_TRUE(run(graph, allocation, cpu_device(), ops, {.batch = "8"}));
  EXPECT_THAT(ran, ElementsAre(1, 2));
  EXPECT_THAT(run(graph, allocation, cpu_device(), ops).error().message, HasSubstr("a run must choose one"));
  EXPECT_THAT(run(graph, allocation, cpu_device(), ops, {.batch = "2"}).error().message, HasSubstr("has no batch '2'"));
  EXPECT_EQ(ran.size(), 2U);
}

// ------------------------------------------------------------------------------------------------------------- bodies

/// On stream 0, `c` is computed and chooses a body; on stream 1 there is other work.
Graph branching_graph() {
  Body left{.tensors = {tensor("out", 16)},
            .ops = {op("left", {}, {0})},
            .inputs = {},
            .outputs = {{TensorId(0), TensorId(2)}},
            .carried = {}};
  Body right = left;
  right.ops[0].name = "right";
  Op branch = op("if", {0}, {2});
  branch.control = Control::branch;
  branch.bodies = {left, right};
  Op beside = op("beside", {}, {1});
  beside.stream = StreamId(1);
  return built({tensor("c", 16), tensor("b", 16, TensorFlag::output), tensor("y", 16, TensorFlag::output)},
               {op("f", {}, {0}), beside, branch});
}

TEST(RunBodies, AChoiceWaitsForWhatTheOpReadsAndForNothingElse) {
  const Graph graph = branching_graph();
  const auto sim = SimDevice::make();
  GraphAllocator allocator(sim->buffer_type());
  const Allocation& allocation = **allocator.allocate(graph);
  std::vector<std::string> done;
  const RunOps ops{.run = [&](const OpCall& call) -> Status {
                     const std::string name = graph.op(call.op).name;
                     SimKernel kernel;
                     kernel.outputs = {{call.outputs[0], Bytes(16)}};
                     kernel.compute = [&done, name](auto, auto outputs) {
                       outputs[0].assign(16, std::byte{1});
                       done.push_back(name);
                     };
                     return sim->launch_kernel(call.stream, kernel);
                   },
                   .choose = [&](Decision& decision) -> Result<std::size_t> {
                     EXPECT_THAT(done, IsEmpty()) << "nothing waits until a value is asked for";
                     std::byte value{};
                     STOWAGE_TRY_STATUS(decision.read(0, {&value, 1}));
                     EXPECT_THAT(done, ElementsAre("f"));
                     return std::to_integer<std::size_t>(value);
                   }};
  EXPECT_TRUE(run(graph, allocation, *sim, ops));
  EXPECT_EQ(done.size(), 3U);
  EXPECT_THAT(done, ::testing::Contains("right"));
  EXPECT_THAT(sim->violations(), IsEmpty());
}

/// Runs a graph on a simulated device; each op writes the sum of its inputs' first bytes plus one, and its name into
/// `done` when it is complete.
class Questions : public ::testing::Test {
 protected:
  Status launch(const Graph& graph, const OpCall& call) {
    SimKernel kernel;
    for (std::byte* const input : call.inputs) kernel.inputs.push_back({input, Bytes(1)});
    kernel.outputs = {{call.outputs[0], Bytes(1)}};
    kernel.compute = [this, name = graph.op(call.op).name](auto inputs, auto outputs) {
      int sum = 1;
      for (const std::vector<std::byte>& input : inputs) sum += std::to_integer<int>(input[0]);
      outputs[0].assign(1, static_cast<std::byte>(sum));
      done_.push_back(name);
    };
    return sim_->launch_kernel(call.stream, std::move(kernel));
  }
  static std::size_t read(Decision& decision) {
    std::byte value{};
    EXPECT_TRUE(decision.read(0, {&value, 1}));
    return std::to_integer<std::size_t>(value);
  }

  std::unique_ptr<SimDevice> sim_ = SimDevice::make();
  std::vector<std::string> done_;
};

/// "f" and "beside" come before the branch, and "late" comes between "f" and the branch on their stream.
TEST_F(Questions, OfABranchWaitForTheProducerAloneAndNotForItsStream) {
  Body body{.tensors = {tensor("out", 16)},
            .ops = {op("left", {}, {0})},
            .inputs = {},
            .outputs = {{TensorId(0), TensorId(3)}},
            .carried = {}};
  Body other = body;
  other.ops[0].name = "right";
  Op branch = op("if", {0}, {3});
  branch.control = Control::branch;
  branch.bodies = {body, other};
  Op beside = op("beside", {}, {2});
  beside.stream = StreamId(1);
  const Graph graph = built({tensor("c", 16), tensor("l", 16, TensorFlag::output), tensor("b", 16, TensorFlag::output),
                             tensor("y", 16, TensorFlag::output)},
                            {op("f", {}, {0}), op("late", {0}, {1}), beside, branch});
  GraphAllocator allocator(sim_->buffer_type());
  const Allocation& allocation = **allocator.allocate(graph);
  const RunOps ops{.run = [&](const OpCall& call) { return launch(graph, call); },
                   .choose = [&](Decision& decision) -> Result<std::size_t> {
                     EXPECT_THAT(done_, IsEmpty());
                     const std::size_t value = read(decision);
                     EXPECT_THAT(done_, ElementsAre("f")) << "what comes after it on its stream is pending";
                     return value;
                   }};
  ASSERT_TRUE(run(graph, allocation, *sim_, ops));
  EXPECT_THAT(done_, ::testing::UnorderedElementsAre("f", "late", "beside", "right"));
  EXPECT_THAT(sim_->violations(), IsEmpty());
}

/// Each iteration adds one, and then does more on the same stream.
TEST_F(Questions, OfALoopWaitForWhatItCarriesAlone) {
  Op add = op("add", {0}, {1});
  add.in_place = {{0, 0}};  // so that no copy carries the value
  Body body{.tensors = {tensor("in", 1), tensor("out", 1), tensor("more", 1)},
            .ops = {add, op("more", {1}, {2})},
            .inputs = {{TensorId(0), TensorId(0)}},
            .outputs = {{TensorId(1), TensorId(1)}},
            .carried = {{TensorId(1), TensorId(0)}}};
  Op loop = op("while", {0}, {1});
  loop.control = Control::loop;
  loop.bodies = {body};
  const Graph graph = built({tensor("x", 1), tensor("y", 1, TensorFlag::output), tensor("z", 1, TensorFlag::output)},
                            {op("f", {}, {0}), op("late", {0}, {2}), loop});
  GraphAllocator allocator(sim_->buffer_type());
  const Allocation& allocation = **allocator.allocate(graph);
  std::vector<std::size_t> seen;
  const RunOps ops{.run = [&](const OpCall& call) { return launch(graph, call); },
                   .repeat = [&](Decision& decision) -> Result<bool> {
                     seen.push_back(read(decision));
                     EXPECT_EQ(done_.back(), decision.iteration() == 0 ? "f" : "add");
                     EXPECT_EQ(std::count(done_.begin(), done_.end(), "more"),
                               std::max<std::int64_t>(0, static_cast<std::int64_t>(decision.iteration()) - 1))
                         << "only what precedes the last \"add\" on its stream";
                     return seen.size() < 4;
                   }};
  ASSERT_TRUE(run(graph, allocation, *sim_, ops));
  EXPECT_THAT(seen, ElementsAre(1U, 2U, 3U, 4U));
  EXPECT_THAT(sim_->violations(), IsEmpty());
}

TEST_F(Questions, AboutWhatTheCallerWroteWaitForNothing) {
  Body body{.tensors = {tensor("out", 1)},
            .ops = {op("left", {}, {0})},
            .inputs = {},
            .outputs = {{TensorId(0), TensorId(1)}},
            .carried = {}};
  Op branch = op("if", {0}, {1});
  branch.control = Control::branch;
  branch.bodies = {body, body};
  const Graph graph =
      built({tensor("x", 1, TensorFlag::input), tensor("y", 1, TensorFlag::output), tensor("z", 1, TensorFlag::output)},
            {op("before", {}, {2}), branch});
  GraphAllocator allocator(sim_->buffer_type());
  const Allocation& allocation = **allocator.allocate(graph);
  const RunOps ops{.run = [&](const OpCall& call) { return launch(graph, call); },
                   .choose = [&](Decision& decision) -> Result<std::size_t> {
                     EXPECT_TRUE(decision.wait());
                     EXPECT_THAT(done_, IsEmpty());
                     return 1;
                   }};
  ASSERT_TRUE(run(graph, allocation, *sim_, ops));
  EXPECT_THAT(done_, ElementsAre("before", "left"));
}

TEST(RunBodies, ABodyThatDoesNotExistEndsTheRun) {
  const Graph graph = branching_graph();
  GraphAllocator allocator(cpu_device().buffer_type());
  const Allocation& allocation = **allocator.allocate(graph);
  const RunOps ops{.run = [](const OpCall&) -> Status { return Done{}; },
                   .choose = [](Decision&) -> Result<std::size_t> { return 2; }};
  EXPECT_THAT(run(graph, allocation, cpu_device(), ops).error().message,
              HasSubstr("op 'if' (2) has 2 bodies, but number 2 was chosen"));
  EXPECT_THAT(run(graph, allocation, cpu_device(), {.run = ops.run}).error().message, HasSubstr("nobody chooses"));
}

/// y = x plus the number of iterations, one byte.
Graph counting_graph(std::optional<std::int64_t> trips) {
  Body body{.tensors = {tensor("in", 1), tensor("out", 1)},
            .ops = {op("add", {0}, {1})},
            .inputs = {{TensorId(0), TensorId(0)}},
            .outputs = {{TensorId(1), TensorId(1)}},
            .carried = {{TensorId(1), TensorId(0)}}};
  Op loop = op("while", {0}, {1});
  loop.control = Control::loop;
  loop.bodies = {body};
  loop.trip_count = trips;
  return built({tensor("x", 1, TensorFlag::input), tensor("y", 1), tensor("z", 1, TensorFlag::output)},
               {loop, op("copy", {1}, {2})});
}

Status add_one(const Graph& graph, const OpCall& call) {
  const int more = graph.op(call.op).name == "add" ? 1 : 0;
  *call.outputs[0] = static_cast<std::byte>(std::to_integer<int>(*call.inputs[0]) + more);
  return Done{};
}

TEST(RunBodies, ALoopAsksBeforeEachIterationAndSeesWhatItCarries) {
  const Graph graph = counting_graph({});
  GraphAllocator allocator(cpu_device().buffer_type());
  const Allocation& allocation = **allocator.allocate(graph);
  std::vector<int> seen;
  const RunOps ops{.run = [&](const OpCall& call) { return add_one(graph, call); },
                   .repeat = [&](Decision& decision) -> Result<bool> {
                     std::byte value{};
                     STOWAGE_TRY_STATUS(decision.read(0, {&value, 1}));
                     seen.push_back(std::to_integer<int>(value));
                     return seen.back() < 8;
                   }};
  *allocation.tensors[0].data() = std::byte{5};
  ASSERT_TRUE(run(graph, allocation, cpu_device(), ops));
  EXPECT_THAT(seen, ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(*allocation.tensors[2].data(), std::byte{8});
}

TEST(RunBodies, ALoopOfKnownLengthNeedsNoAnswers) {
  const Graph graph = counting_graph(37);
  GraphAllocator allocator(cpu_device().buffer_type());
  const Allocation& allocation = **allocator.allocate(graph);
  const RunOps ops{.run = [&](const OpCall& call) { return add_one(graph, call); }};
  *allocation.tensors[0].data() = std::byte{5};
  ASSERT_TRUE(run(graph, allocation, cpu_device(), ops));
  EXPECT_EQ(*allocation.tensors[2].data(), std::byte{42});
  EXPECT_THAT(run(counting_graph({}), allocation, cpu_device(), ops).error().message,
              HasSubstr("nobody says how often"));
}

// ------------------------------------------------------------------------------------------------------ kinds of
// memory

Graph session_graph(std::int64_t size, bool fixed = false) {
  Op f = op("f", {0}, {1});
  f.workspaces = {{.size = Bytes(size), .scope = WorkspaceScope::session}};
  f.fixed_address = fixed;
  return built({tensor("x", 16, TensorFlag::input), tensor("y", 16, TensorFlag::output)}, {f});
}

TEST(SessionMemory, IsSharedByGraphsAndKeepsItsContentWhenItGrows) {
  for (const std::int64_t skew : {0, 24}) {
    const auto sim = SimDevice::make({.skew = Bytes(skew)});
    GraphAllocator allocator(sim->buffer_type());
    const Address small = (*allocator.allocate(session_graph(64)))->workspaces[0];
    ASSERT_TRUE(small.buffer->fill({small.offset, small.offset + Bytes(64)}, 42));
    const Address large = (*allocator.allocate(session_graph(4096)))->workspaces[0];
    EXPECT_EQ(allocator.permanent_size(0) >= Bytes(4096), true);
    std::byte last{};
    ASSERT_TRUE(large.buffer->read(large.offset + Bytes(63), {&last, 1}));
    EXPECT_EQ(last, std::byte{42});
    EXPECT_EQ((*allocator.allocate(session_graph(64)))->workspaces[0].data(), large.data());
    ASSERT_TRUE(allocator.trim());
    EXPECT_EQ((*allocator.allocate(session_graph(64)))->workspaces[0].data(), large.data());
  }
}

TEST(SessionMemory, OfAFixedAddressDoesNotMove) {
  GraphAllocator allocator(cpu_device().buffer_type());
  const std::byte* const before = (*allocator.allocate(session_graph(64, true)))->workspaces[0].data();
  EXPECT_THAT(allocator.reserve(session_graph(4096)).error().message, HasSubstr("must keep their address"));
  EXPECT_EQ((*allocator.allocate(session_graph(64, true)))->workspaces[0].data(), before);
  EXPECT_TRUE(allocator.reserve(session_graph(32)));
}

TEST(FixedMemory, StaysWhenSharedMemoryMoves) {
  Op reduce = op("reduce", {1}, {2});
  reduce.fixed_address = true;
  const Graph graph = built(
      {tensor("x", 512, TensorFlag::input), tensor("g", 512), tensor("r", 512), tensor("y", 512, TensorFlag::output)},
      {op("f", {0}, {1}), reduce, op("h", {2}, {3})});
  GraphAllocator allocator(cpu_device().buffer_type());
  const Allocation& allocation = **allocator.allocate(graph);
  const std::vector<Address> before = allocation.tensors;
  const Graph larger =
      built({tensor("x", 1 << 16, TensorFlag::input), tensor("y", 16, TensorFlag::output)}, {op("f", {0}, {1})});
  ASSERT_TRUE(allocator.allocate(larger));
  const std::uint64_t plans = allocator.counters().plans;
  const Allocation& after = **allocator.allocate(graph);
  EXPECT_EQ(allocator.counters().plans, plans) << "no new plan";
  EXPECT_EQ(after.tensors[1], before[1]);
  EXPECT_EQ(after.tensors[2], before[2]);
  EXPECT_NE(after.tensors[0].buffer, before[0].buffer);
}

TEST(FixedMemory, OfFilledGroupsIsClearedByTheProgram) {
  Op gather = op("gather", {0}, {1, 2});
  gather.contiguous_outputs = Contiguity::padded;
  gather.zero_fill = {.outputs = {0, 1}, .workspaces = {}, .value = 7};
  const Graph graph =
      built({tensor("x", 16, TensorFlag::input), tensor("a", 20), tensor("b", 16), tensor("y", 16, TensorFlag::output)},
            {gather, op("add", {1, 2}, {3})});
  GraphAllocator allocator(cpu_device().buffer_type());
  const Allocation& allocation = **allocator.allocate(graph);
  EXPECT_EQ(allocation.tensors[2].data() - allocation.tensors[1].data(), 32) << "as the graph's alignment says";
  std::vector<int> found;
  const RunOps ops{.run = [&](const OpCall& call) -> Status {
    if (call.op == OpId(0))
      found = {std::to_integer<int>(call.outputs[0][19]), std::to_integer<int>(call.outputs[1][15])};
    return Done{};
  }};
  ASSERT_TRUE(run(graph, allocation, cpu_device(), ops));
  EXPECT_THAT(found, ElementsAre(7, 7));
}

}  // namespace
}  // namespace stowage
