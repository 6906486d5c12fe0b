#include "support/judges/program_run/program_run.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/alloc.hpp"
#include "stowage/io.hpp"
#include "stowage/verify.hpp"
#include "support/builders/program_text.hpp"
#include "support/environment.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/dump_graph.hpp"
#include "support/graph_texts.hpp"
#include "support/judges/shadow/hash.hpp"

/// Graphs with every constraint run at the addresses of a `GraphAllocator`, carried out by `run`: in host memory, in
/// pages of the host, and on a device on which work stays pending. All runs equal the unplanned one, bit for bit.
namespace stowage::testing {
namespace {

using ::testing::IsEmpty;

PlanOptions quick(std::uint64_t seed) {
  PlanOptions options{.time_limit = {}, .seed = seed, .node_budget = 200};
  options.in_place = seed % 4 != 0;
  if (seed % 5 < 2) options.zero_fill = FillPolicy::separate;
  if (seed % 11 == 0) options.region_limit = Bytes(300);
  if (seed % 7 == 0) options.batch_start = BatchStart::same;
  return options;
}

/// Between runs other graphs use the allocator; what needs a fixed address and session memory stays.
Graph larger_graph(Bytes size) {
  GraphBuilder builder("larger");
  const TensorId x = builder.add(Tensor{.name = "x", .size = size, .flags = TensorFlag::input});
  const TensorId y = builder.add(Tensor{.name = "y", .size = size, .flags = TensorFlag::output});
  builder.add(Op{.name = "f", .kind = "F", .inputs = {x}, .outputs = {y}});
  return builder.build().value();
}

/// One type for all memories.
std::vector<BufferType*> types_of(const Graph& graph, BufferType& type) {
  return std::vector<BufferType*>(graph.memories().size(), &type);
}

struct Totals {
  std::size_t runs = 0;
  std::size_t ops = 0;
  std::size_t refused = 0;
};

/// Three runs, with other buffers of the caller, another batch and other shared memory each time.
void run_three_times(const Graph& graph, GraphAllocator& allocator, ProgramRun& run, Totals& totals) {
  for (std::size_t number = 0; number < 3; ++number) {
    if (number == 1) {
      const Graph larger = larger_graph(allocator.buffer_size(0) + Bytes(4096));
      ASSERT_TRUE(allocator.reserve(larger)) << to_string(allocator.reserve(larger).error());
    }
    const Result<const Allocation*> allocation = allocator.allocate(graph);
    ASSERT_TRUE(allocation) << to_string(allocation.error());
    if (number == 0) {
      EXPECT_THAT(verify(allocator.as_served(graph).value(), (*allocation)->plan, {.base = AddressBase::refreshable}),
                  IsEmpty());
    }
    const Status status = run.run(**allocation, allocator, number);
    EXPECT_THAT(run.findings(), IsEmpty()) << "in run " << number << " of\n" << dump_graph(graph);
    ASSERT_TRUE(status) << to_string(status.error()) << " in run " << number << " of\n" << dump_graph(graph);
    ++totals.runs;
  }
  totals.ops += run.ops();
}

/// Whether the graph can be planned at all (with races it cannot).
bool is_served(const Graph& graph, GraphAllocator& allocator, Totals& totals) {
  const Status reserved = allocator.reserve(graph);
  if (!reserved) {
    ++totals.refused;
    ADD_FAILURE() << to_string(reserved.error());
  }
  return reserved.has_value();
}

void run_on_host(const Graph& graph, std::uint64_t seed, Totals& totals, bool pages) {
  const std::unique_ptr<BufferType> type = *make_cpu_buffer_type("bytes", {.alignment = Bytes(seed % 2 == 0 ? 1 : 64)});
  const std::unique_ptr<Machine> machine = make_cpu_machine();
  std::vector<BufferType*> types(graph.memories().size(), type.get());
  for (std::size_t i = 1; i < types.size() && seed % 3 == 0; i += 2) types[i] = &cpu_device().buffer_type();
  GraphAllocatorOptions options{.plan = quick(seed)};
  if (pages) options.virtual_memory = {&cpu_device()};
  options.address_space = Bytes(1 << 26);
  options.page_size = Bytes(1);
  GraphAllocator allocator(types, options);
  if (!is_served(graph, allocator, totals)) return;
  ProgramRun run(graph, *machine, *type, seed);
  run_three_times(graph, allocator, run, totals);
}

void run_on_device(const Graph& graph, std::uint64_t seed, Totals& totals) {
  for (std::size_t first = 0; first < graph.stream_count(); ++first) {
    const auto sim = SimDevice::make({.alignment = Bytes(32), .skew = Bytes(seed % 3 == 0 ? 24 : 0)});
    {
      const SimPace pace{
          .first_stream = first, .seed = seed % 2 == 0 ? std::nullopt : std::optional(seed), .strict = seed % 4 < 2};
      const std::unique_ptr<Machine> machine = make_sim_machine(*sim, pace, StreamId(graph.stream_count()));
      GraphAllocator allocator(types_of(graph, sim->buffer_type()), {.plan = quick(seed)});
      if (!is_served(graph, allocator, totals)) return;
      ProgramRun run(graph, *machine, sim->buffer_type(), seed);
      run.reads_inputs_of_choices = first % 2 == 1;
      run_three_times(graph, allocator, run, totals);
    }
    EXPECT_EQ(sim->live_objects(), 0U);
    EXPECT_THAT(sim->violations(), IsEmpty());
  }
}

TEST(ProgramRun, RandomGraphsInHostMemory) {
  Totals totals;
  for (std::uint64_t seed = seeds(300).first; seed < seeds(300).last && !::testing::Test::HasFailure(); ++seed)
    run_on_host(constrained_graph(seed), seed, totals, false);
  EXPECT_TRUE(!seeds(300).is_many() || totals.ops > 1'000);
}

TEST(ProgramRun, RandomGraphsInPagesOfTheHost) {
  if (cpu_device().virtual_memory() == nullptr) GTEST_SKIP() << "NO VIRTUAL MEMORY on this machine";
  Totals totals;
  for (std::uint64_t seed = seeds(100).first; seed < seeds(100).last && !::testing::Test::HasFailure(); ++seed)
    run_on_host(constrained_graph(seed), seed, totals, true);
}

TEST(ProgramRun, RandomGraphsOnADeviceWhereWorkStaysPending) {
  Totals totals;
  for (std::uint64_t seed = seeds(300).first; seed < seeds(300).last && !::testing::Test::HasFailure(); ++seed)
    run_on_device(constrained_graph(seed), seed, totals);
}

/// Graphs divided over two backends keep their constraints, and run.
TEST(ProgramRun, PartitionsOfRandomGraphsInHostMemory) {
  const std::unique_ptr<BufferType> bytes = *make_cpu_buffer_type("bytes", {.alignment = Bytes(1)});
  Totals totals;
  std::size_t refused = 0;
  for (std::uint64_t seed = seeds(200).first; seed < seeds(200).last && !::testing::Test::HasFailure(); ++seed) {
    const Result<Graph> graph = draw_constrained_graph(seed, {.bodies = 0, .graphs_with_rings = 0});
    if (!graph) continue;
    const auto supports = [seed](std::uint64_t which) {
      return [seed, which](const Graph&, OpId op) { return mix(seed, op.index()) % 3 != which; };
    };
    const std::vector<Backend> backends{{.name = "a", .memory = bytes.get(), .supports = supports(0)},
                                        {.name = "b", .memory = &cpu_device().buffer_type(), .supports = supports(1)}};
    const Result<Partition> parted = partition(*graph, backends);
    if (!parted) {
      EXPECT_THAT(parted.error().message, ::testing::ContainsRegex("(op|tensor) '"));
      ++refused;
      continue;
    }
    for (std::size_t k = 0; k < graph->ops().size(); ++k) {
      const Op& before = graph->ops()[k];
      const Op& after = parted->graph.op(parted->ops[k]);
      EXPECT_EQ(after.zero_fill, before.zero_fill);
      EXPECT_EQ(after.contiguous_inputs, before.contiguous_inputs);
      EXPECT_EQ(after.contiguous_outputs, before.contiguous_outputs);
      EXPECT_EQ(after.fixed_address, before.fixed_address);
      EXPECT_EQ(after.batch, before.batch);
    }
    run_on_host(parted->graph, seed, totals, false);
  }
  std::cout << totals.runs << " runs, " << refused << " refused\n";
  EXPECT_TRUE(!seeds(200).is_many() || totals.runs > refused);
}

// ------------------------------------------------------------------------------------------- what a program must have

/// A graph with an allocator on a simulated device, whose program can be changed.
class Mutations {
 public:
  Mutations(const Graph& graph, std::uint64_t seed)
      : graph_(graph), seed_(seed), allocator_(types_of(graph, sim_->buffer_type()), {.plan = quick(seed)}) {}

  /// The places of the steps of that kind that some run performs.
  [[nodiscard]] std::vector<std::size_t> performed(ProgramStep::Kind kind) {
    const Program& program = *(*allocator_.allocate(graph_))->plan.program;
    std::vector<std::size_t> steps;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      if (program.steps[i].kind == kind && is_performed(program.steps[i])) steps.push_back(i);
    }
    return steps;
  }

  /// Whether runs without that step go wrong.
  [[nodiscard]] bool is_missed(std::size_t step) {
    Program without = *(*allocator_.allocate(graph_))->plan.program;
    without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(step));
    for (std::size_t first = 0; first < graph_.stream_count(); ++first) {
      if (goes_wrong({.first_stream = first, .strict = true}, without)) return true;
    }
    return false;
  }

  static Program marked(Program program, std::size_t step) {
    ProgramStep mark = program.steps[step];
    mark.kind = ProgramStep::Kind::record;
    mark.stream = kMarkStream;
    mark.index = static_cast<std::uint32_t>(program.steps.size());  // more than there are events
    program.steps.insert(program.steps.begin() + static_cast<std::ptrdiff_t>(step), mark);
    return program;
  }

  /// Whether a copy finds its bytes in place, each time that it is made.
  [[nodiscard]] bool finds_its_bytes(std::size_t step) {
    bool always = true;
    EXPECT_FALSE(goes_wrong_with(step, {.seen = [&](bool were_there) { always = always && were_there; }}));
    return always;
  }

  /// Whether somebody reads what a copy copies, so that wrong bytes make a difference.
  [[nodiscard]] bool is_read(std::size_t step) { return goes_wrong_with(step, {.spoilt = true}); }

  [[nodiscard]] std::string text(std::size_t step) {
    const Plan& plan = (*allocator_.allocate(graph_))->plan;
    const Program& program = *plan.program;
    std::string lines;
    for (const std::string& line : lines_of(program)) lines += line + "; ";
    for (const Copy& copy : plan.copies) {
      lines += "\n  copy of " + describe(graph_, copy.tensor) + " to " + std::to_string(copy.offset.value()) +
               " of arena " + std::to_string(copy.arena.index()) + ": " + copy.reason;
      if (copy.when.kind == CopyMoment::Kind::before_op) lines += ", before " + describe(graph_, copy.when.op);
    }
    for (const Placement& place : plan.placements)
      lines += "\n  " + describe(graph_, place.tensor) + " at " + std::to_string(place.offset.value()) + " of arena " +
               std::to_string(place.arena.index());
    return "step " + std::to_string(step) + " (" + line_of(program.steps[step]) + ") of\n" + lines + "\n" +
           dump_graph(graph_);
  }

 private:
  static constexpr std::size_t kRuns = 64;  ///< Enough for one body of a branch inside one of another.

  [[nodiscard]] bool is_performed(const ProgramStep& step) {
    const std::unique_ptr<Machine> machine = make_cpu_machine();
    const ProgramRun run(graph_, *machine, sim_->buffer_type(), seed_);
    for (std::size_t number = 0; number < kRuns; ++number) {
      const RunChoice choice = run.choice(number);
      if (step.batch != 0 && graph_.batches()[step.batch - 1] != choice.batch) continue;
      if (step.scope == ScopeId(0)) return true;
      for (const Event& event : linear_schedule(graph_, choice)) {
        if (event.phase == Event::Phase::enter && event.scope == step.scope) return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool goes_wrong_with(std::size_t step, const SimPace::Marked& marks) {
    const Program program = marked(*(*allocator_.allocate(graph_))->plan.program, step);
    for (std::size_t first = 0; first < graph_.stream_count(); ++first)
      if (goes_wrong({.first_stream = first, .strict = true, .marked = marks}, program)) return true;
    return false;
  }

  /// In new memory: that of other runs may hold the right bytes already.
  [[nodiscard]] bool goes_wrong(const SimPace& pace, const Program& program) {
    const auto sim = SimDevice::make({.alignment = Bytes(32)});
    GraphAllocator allocator(types_of(graph_, sim->buffer_type()), {.plan = quick(seed_)});
    const std::unique_ptr<Machine> machine = make_sim_machine(*sim, pace, StreamId(graph_.stream_count()));
    ProgramRun run(graph_, *machine, sim->buffer_type(), seed_);
    const Allocation& allocation = **allocator.allocate(graph_);
    run.program = program;
    for (std::size_t number = 0; number < kRuns; ++number) {
      const Status status = run.run(allocation, allocator, number);
      if (!run.findings().empty()) return true;
      EXPECT_TRUE(status) << to_string(status.error());
    }
    return false;
  }

  const Graph& graph_;
  std::uint64_t seed_;
  std::unique_ptr<SimDevice> sim_ = SimDevice::make({.alignment = Bytes(32)});
  GraphAllocator allocator_;
};

/// Every wait and every fill is missed. So is every copy, unless nobody reads what it copies (wrong bytes would make no
/// difference), or it finds its bytes in place each time that it is made: two ops read copies of one value at one
/// place, and nothing has come between them.
TEST(ProgramRun, EveryWaitFillAndCopyIsMissedWhenItIsLeftOut) {
  using Kind = ProgramStep::Kind;
  std::map<Kind, std::size_t> removed;
  std::map<Kind, std::size_t> unseen;
  std::size_t unread = 0;
  for (std::uint64_t seed = seeds(60).first; seed < seeds(60).last; ++seed) {
    const Graph graph = constrained_graph(seed, {.bodies = seed % 2 == 0 ? 14U : 0U});
    Mutations mutations(graph, seed);
    for (const Kind kind : {Kind::wait, Kind::fill, Kind::copy}) {
      for (const std::size_t step : mutations.performed(kind)) {
        ++removed[kind];
        if (mutations.is_missed(step)) continue;
        ++unseen[kind];
        const bool copies = kind == Kind::copy;
        if (copies && !mutations.is_read(step)) {
          ++unread;
        } else {
          EXPECT_TRUE(copies && mutations.finds_its_bytes(step)) << mutations.text(step);
        }
      }
    }
  }
  std::cout << "left out, and how many of them in vain: waits " << removed[Kind::wait] << ", " << unseen[Kind::wait]
            << "; fills " << removed[Kind::fill] << ", " << unseen[Kind::fill] << "; copies " << removed[Kind::copy]
            << ", " << unseen[Kind::copy] << ", of which nobody reads what " << unread
            << " copy, and the others found their bytes in place\n";
}

// ------------------------------------------------------------------------------------------------------------- faults

/// One run from the start, in which the nth call to the device fails. Afterwards everything works again.
/// Returns false when there are fewer calls.
bool survives_fault(const Graph& graph, std::uint64_t seed, std::uint64_t nth, bool pages) {
  const auto sim = SimDevice::make({.alignment = Bytes(32), .granularity = Bytes(64)});
  bool failed = false;
  {
    const std::unique_ptr<Machine> machine = make_sim_machine(*sim, {}, StreamId(graph.stream_count()));
    GraphAllocatorOptions options{.plan = quick(seed)};
    if (pages) options.virtual_memory = {sim.get()};
    options.address_space = Bytes(1 << 20);
    options.page_size = Bytes(256);
    GraphAllocator allocator(types_of(graph, sim->buffer_type()), options);
    const auto run_once = [&](ProgramRun& run, std::size_t number) -> Status {
      STOWAGE_TRY_STATUS(allocator.reserve(graph));
      STOWAGE_TRY(const Allocation* const allocation, allocator.allocate(graph));
      return run.run(*allocation, allocator, number);
    };
    sim->fail_any(nth);
    {
      ProgramRun run(graph, *machine, sim->buffer_type(), seed);
      const Status status = run_once(run, 0);
      failed = !status;
      EXPECT_THAT(run.findings(), IsEmpty()) << "call " << nth << " of\n" << dump_graph(graph);
      sim->fail_any(0);
      EXPECT_TRUE(!status || sim->violations().empty());
    }
    ProgramRun again(graph, *machine, sim->buffer_type(), seed);
    for (std::size_t number = 0; number < 2; ++number) {
      const Status status = run_once(again, number);
      EXPECT_TRUE(status) << to_string(status.error());
      EXPECT_THAT(again.findings(), IsEmpty()) << "after call " << nth << " failed, of\n" << dump_graph(graph);
    }
  }
  EXPECT_EQ(sim->live_objects(), 0U);
  EXPECT_EQ(sim->in_use(), Bytes(0));
  EXPECT_THAT(sim->violations(), IsEmpty());
  return failed;
}

TEST(ProgramRun, SurvivesAFaultAtEveryCall) {
  std::size_t faults = 0;
  for (std::uint64_t seed = seeds(30).first; seed < seeds(30).last && !::testing::Test::HasFailure(); ++seed) {
    const Graph graph = constrained_graph(seed);
    // A call may also fail without consequence: addresses that cannot be reserved, one of two synchronizations.
    std::uint64_t harmless = 0;
    for (std::uint64_t nth = 1; harmless < 20 && !::testing::Test::HasFailure(); ++nth) {
      const bool failed = survives_fault(graph, seed, nth, seed % 2 == 1);
      harmless = failed ? 0 : harmless + 1;
      faults += failed ? 1 : 0;
    }
  }
  EXPECT_TRUE(!seeds(30).is_many() || faults > 500) << faults;
}

/// An op that fails ends the run with its error; nothing is pending, and the next run is right.
TEST(ProgramRun, AFailingOpLeavesTheStreamsIdle) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Graph graph = constrained_graph(seed);
    const auto sim = SimDevice::make({.alignment = Bytes(32)});
    const std::unique_ptr<Machine> machine = make_sim_machine(*sim, {}, StreamId(graph.stream_count()));
    GraphAllocator allocator(types_of(graph, sim->buffer_type()), {.plan = quick(seed)});
    const Allocation& allocation = **allocator.allocate(graph);
    for (std::size_t fatal = 0; fatal < 8; ++fatal) {
      ProgramRun run(graph, *machine, sim->buffer_type(), seed);
      std::size_t ops = 0;
      run.on_op = [&](OpId) -> Status {
        if (ops++ == fatal) return Error{ErrorCode::unsupported, "no such kernel", {}};
        return Done{};
      };
      const std::size_t live = sim->live_objects();
      const Status status = run.run(allocation, allocator, 0);
      if (ops <= fatal) break;
      EXPECT_EQ(status.error(), (Error{ErrorCode::unsupported, "no such kernel", {}}));
      EXPECT_GE(sim->live_objects(), live);
      for (std::size_t stream = 0; stream < graph.stream_count(); ++stream) {
        const EventId event = sim->record(StreamId(stream)).value();
        EXPECT_TRUE(sim->is_complete(event).value()) << "stream " << stream << " has work";
        sim->forget(event);
      }
      ProgramRun again(graph, *machine, sim->buffer_type(), seed);
      EXPECT_TRUE(again.run(allocation, allocator, 1));
      EXPECT_THAT(again.findings(), IsEmpty());
    }
  }
}

// --------------------------------------------------------------------------------------------------- graphs of others

TEST(ProgramRun, GraphsOfTheExamplesAndTheFormats) {
  Totals totals;
  std::size_t graphs = 0;
  for (const auto& [name, text] : graph_texts()) {
    const Result<Graph> graph = parse_graph(text, name);
    if (!graph || !plan(*graph, quick(1))) continue;  // a plan, or a graph that is refused
    SCOPED_TRACE(name + ": " + graph->name());
    ++graphs;
    run_on_host(*graph, 1, totals, false);
    if (cpu_device().virtual_memory() != nullptr) run_on_host(*graph, 2, totals, true);
    for (std::uint64_t seed = 1; seed < 4; ++seed) run_on_device(*graph, seed, totals);
  }
  EXPECT_GE(graphs, 27U);
  std::cout << graphs << " graphs, " << totals.runs << " runs, " << totals.ops << " ops\n";
}

}  // namespace
}  // namespace stowage::testing
