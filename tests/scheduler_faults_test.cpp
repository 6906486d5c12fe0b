#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/generators/random_graph.hpp"
#include "support/judges/scheduled_run.hpp"

/// Every call that a scheduler makes fails once: nothing leaks, nothing is corrupted, the error says what was
/// requested, and a retry succeeds.
namespace stowage::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The CPU's memory, with one allocation that fails.
class FlakyType final : public BufferType {
 public:
  [[nodiscard]] std::string_view name() const override { return "flaky"; }
  [[nodiscard]] DeviceId device() const override { return host().device(); }
  [[nodiscard]] Bytes alignment() const override { return host().alignment(); }
  [[nodiscard]] bool host_visible() const override { return true; }
  Result<std::unique_ptr<Buffer>> allocate(Bytes size) override {
    ++calls;
    if (calls != fails_at) return host().allocate(size);
    return Error{ErrorCode::out_of_memory, "flaky: cannot allocate " + std::to_string(size.value()) + " bytes", {}};
  }

  std::uint64_t calls = 0;
  std::uint64_t fails_at = 0;

 private:
  static BufferType& host() { return cpu_device().buffer_type(); }
};

/// Which calls of which device fail.
struct Fault {
  enum class Who : std::uint8_t { first, second, host, staging } who = Who::first;
  SimCall call = SimCall::allocate;
  std::uint64_t nth = 0;
};

/// Two devices, two streams of the first one, and flaky host memory: backends 0 and 2 on the first, 1 on the second, 3
/// the CPU.
struct Scene {
  Backends backends = backends_that_share_memory();
  FlakyType host;
  FlakyType staging;

  Scene() {
    backends.list.pop_back();
    backends.list.back().memory = &host;
  }

  [[nodiscard]] SimDevice& device(Fault::Who who) const {
    return who == Fault::Who::first ? *backends.first : *backends.second;
  }
  [[nodiscard]] std::uint64_t calls(Fault::Who who, SimCall call) const {
    if (who == Fault::Who::host) return host.calls;
    return who == Fault::Who::staging ? staging.calls : device(who).calls(call);
  }
  void arm(const Fault& fault) {
    if (fault.who == Fault::Who::host) {
      host.fails_at = host.calls + fault.nth;
    } else if (fault.who == Fault::Who::staging) {
      staging.fails_at = staging.calls + fault.nth;
    } else {
      device(fault.who).fail(fault.call, fault.nth);
    }
  }
};

/// A chain of ops on the first device, the CPU, the second device, the first again, and its other stream, so that
/// values are copied in every direction and streams wait for each other.
Graph crossing_graph() {
  GraphBuilder builder("crossing");
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(100), .flags = TensorFlag::input});
  const TensorId w = builder.add(Tensor{.name = "w", .size = Bytes(40), .flags = TensorFlag::constant});
  const TensorId a = builder.add(Tensor{.name = "a", .size = Bytes(200)});
  const TensorId part = builder.add(Tensor{.name = "part", .size = Bytes(50), .view_of = ViewOf{a, Bytes(64)}});
  const TensorId b = builder.add(Tensor{.name = "b", .size = Bytes(80)});
  const TensorId c = builder.add(Tensor{.name = "c", .size = Bytes(80)});
  const TensorId d = builder.add(Tensor{.name = "d", .size = Bytes(80)});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(80), .flags = TensorFlag::output});
  builder.add(Op{.name = "a", .kind = "A", .inputs = {x, w}, .outputs = {a}});
  builder.add(Op{.name = "b", .kind = "B", .inputs = {part}, .outputs = {b}});
  builder.add(Op{.name = "c", .kind = "C", .inputs = {a, b, x}, .outputs = {c}, .workspaces = {{.size = Bytes(30)}}});
  builder.add(Op{.name = "d", .kind = "D", .inputs = {c, part}, .outputs = {d}, .in_place = {{0, 0}}});
  builder.add(Op{.name = "y", .kind = "Y", .inputs = {d, a}, .outputs = {y}});
  return builder.build().value();
}

PartitionOptions crossing_options() {
  return {.pins = {{OpId(0), 0}, {OpId(1), 3}, {OpId(2), 1}, {OpId(3), 0}, {OpId(4), 2}},
          .homes = {{TensorId(1), 3}},
          .input_sets = 2};
}

/// The steps of two evaluations. A failed evaluation is repeated, including its inputs; any other failed step is
/// repeated alone.
class Attempt {
 public:
  Attempt(const Graph& graph, Scene& scene, const PartitionOptions& partition)
      : graph_(graph),
        kernels_(graph),
        reference_(graph, kernels_, 1),
        run_(graph, kernels_, scene.backends,
             {.partition = partition,
              .allocator = {.plan = {.time_limit = {}, .node_budget = 500}},
              .staging = &scene.staging}) {
    run_.write_own_addresses(reference_);
  }

  void go() {
    step([&] { return run_.scheduler().reserve(graph_); });
    step([&] { return run_.allocate(); });
    for (std::uint64_t evaluation = 0; evaluation < 2; ++evaluation) {
      reference_.write_inputs(evaluation);
      reference_.run();
      step([&]() -> Status {
        STOWAGE_TRY_STATUS(run_.scheduler().begin());
        reference_.write_inputs(evaluation);
        run_.write_inputs(reference_);
        return run_.run();
      });
    }
    step([&] { return run_.scheduler().synchronize(); });
  }

  [[nodiscard]] const std::vector<Error>& errors() const { return errors_; }
  [[nodiscard]] std::string difference() {
    reference_.run();
    return run_.difference(reference_).value_or("");
  }
  [[nodiscard]] Scheduler& scheduler() { return run_.scheduler(); }

 private:
  template <class Step>
  void step(Step&& step) {
    for (int tries = 0; tries < 3; ++tries) {
      const Status status = step();
      if (status) return;
      errors_.push_back(status.error());
    }
    ADD_FAILURE() << "a retry does not succeed: " << to_string(errors_.back());
  }

  const Graph& graph_;
  TestKernels kernels_;
  ReferenceRun reference_;
  ScheduledRun run_;
  std::vector<Error> errors_;
};

/// The error says what was requested, from which device, and how much.
void expect_telling(const Error& error, const Fault& fault) {
  const std::string message = to_string(error);
  const std::array<std::string, 4> types = {"sim0", "sim1", "flaky", "flaky"};
  EXPECT_THAT(message, HasSubstr(types[static_cast<std::size_t>(fault.who)]));
  if (fault.call == SimCall::allocate) {
    EXPECT_EQ(error.code, ErrorCode::out_of_memory);
    EXPECT_THAT(message, ::testing::ContainsRegex("cannot allocate [0-9]+ bytes"));
  } else if (fault.call == SimCall::copy) {
    EXPECT_THAT(message, ::testing::ContainsRegex(
                             "copy of tensor '.+' \\([0-9]+\\), [0-9]+ bytes, from [a-z0-9]+ to [a-z0-9]+: "));
  }
}

/// Whether the fault occurred.
bool survive(const Graph& graph, const PartitionOptions& options, const Fault& fault) {
  Scene scene;
  bool happened = false;
  {
    Attempt attempt(graph, scene, options);
    scene.arm(fault);
    attempt.go();
    happened = !attempt.errors().empty();
    EXPECT_LE(attempt.errors().size(), 1U);
    if (happened) expect_telling(attempt.errors().front(), fault);
    EXPECT_EQ(attempt.difference(), "");
  }
  for (const Fault::Who who : {Fault::Who::first, Fault::Who::second}) {
    EXPECT_THAT(scene.device(who).violations(), IsEmpty());
    EXPECT_EQ(scene.device(who).live_objects(), 0U);
    EXPECT_EQ(scene.device(who).in_use(), Bytes(0));
  }
  return happened;
}

constexpr std::array kFallible = {SimCall::allocate, SimCall::copy, SimCall::record, SimCall::wait,
                                  SimCall::synchronize};

/// How many calls of each kind failed.
using Faults = std::map<SimCall, std::size_t>;

/// Fails the first call of each kind on each side, then the second, until there is none to fail.
void survive_all(const Graph& graph, const PartitionOptions& options, Faults& faults) {
  const auto all_of = [&](Fault fault) {
    for (fault.nth = 1; !::testing::Test::HasFailure(); ++fault.nth, ++faults[fault.call]) {
      SCOPED_TRACE("fault " + std::to_string(fault.nth) + " of call " + std::to_string(static_cast<int>(fault.call)));
      if (!survive(graph, options, fault)) return;
    }
  };
  for (const Fault::Who who : {Fault::Who::first, Fault::Who::second}) {
    for (const SimCall call : kFallible) all_of({.who = who, .call = call});
  }
  for (const Fault::Who who : {Fault::Who::host, Fault::Who::staging}) all_of({.who = who, .call = SimCall::allocate});
}

void expect_at_least(const Faults& faults, std::size_t count) {
  for (const SimCall call : kFallible) {
    const auto found = faults.find(call);
    EXPECT_GE(found == faults.end() ? 0 : found->second, count) << "of call " << static_cast<int>(call);
  }
}

TEST(SchedulerFaults, EveryCallMayFailOnce) {
  const Graph graph = crossing_graph();
  Scene scene;
  Attempt attempt(graph, scene, crossing_options());
  const std::uint64_t own = scene.host.calls;
  attempt.go();
  EXPECT_THAT(attempt.errors(), IsEmpty());
  EXPECT_EQ(attempt.difference(), "");
  EXPECT_GT(attempt.scheduler().counters().staged, 0U);
  EXPECT_EQ(scene.staging.calls, 1U);
  EXPECT_GT(scene.host.calls, own);
  EXPECT_GT(attempt.scheduler().counters().event_waits, 0U);
  Faults faults;
  survive_all(graph, crossing_options(), faults);
  expect_at_least(faults, 2);
}

TEST(SchedulerFaults, EveryCallMayFailOnceOnRandomGraphs) {
  Faults faults;
  for (std::uint64_t seed = 0; seed < 40 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    GraphDescription description = random_graph(seed, {.max_ops = 12}).description();
    // A repeated run finds variables as the first attempt left them.
    for (Tensor& tensor : description.tensors) {
      if (!tensor.flags.has(TensorFlag::external) && !tensor.flags.has(TensorFlag::variable)) continue;
      tensor.flags = TensorFlag::input;
    }
    const Result<Graph> graph = Graph::build(std::move(description));
    if (!graph) continue;  // several ops write the same variable
    // All backends support all ops here; ops are pinned to them in turn where possible.
    PartitionOptions options;
    for (std::size_t k = 0; k < graph->ops().size(); ++k) {
      options.pins.push_back({OpId(k), (k + seed) % 4});
      if (!partition(*graph, Scene().backends.list, options)) options.pins.pop_back();
    }
    survive_all(*graph, options, faults);
  }
  expect_at_least(faults, 40);
}

TEST(SchedulerFaults, AFailedAllocationLeavesWhatWasThereUsable) {
  const Graph graph = crossing_graph();
  GraphDescription larger = graph.description();
  for (Tensor& tensor : larger.tensors) tensor.size = tensor.view_of ? tensor.size : Bytes(tensor.size.value() * 10);
  const Graph other = Graph::build(larger).value();
  Scene scene;
  Attempt attempt(graph, scene, crossing_options());
  attempt.go();
  scene.device(Fault::Who::second).fail(SimCall::allocate, 1);
  const Status status = attempt.scheduler().reserve(other);
  ASSERT_FALSE(status);
  EXPECT_THAT(to_string(status.error()), ::testing::ContainsRegex("sim1: cannot allocate [0-9]+ bytes"));
  attempt.go();
  EXPECT_THAT(attempt.errors(), IsEmpty());
  EXPECT_EQ(attempt.difference(), "");
}

}  // namespace
}  // namespace stowage::testing
