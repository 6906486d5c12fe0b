#include <array>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/program_machine.hpp"
#include "stowage/alloc.hpp"
#include "stowage/io.hpp"
#include "support/environment.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/dump_graph.hpp"
#include "support/graph_texts.hpp"
#include "support/judges/program_run/program_run.hpp"

/// Graphs with every constraint run on a real GPU: at the addresses of a `GraphAllocator`, carried out by `run`. Every
/// operand of every op, and the results, equal those of the unplanned run, which the host computes. Needs a GPU; see
/// docs/cuda.md.
namespace stowage::testing {
namespace {

using ::testing::IsEmpty;

CudaDevice& gpu() {
  static const std::unique_ptr<CudaDevice> device = CudaDevice::make().value();
  return *device;
}

PlanOptions quick(std::uint64_t seed) {
  PlanOptions options{.time_limit = {}, .seed = seed, .node_budget = 200};
  options.in_place = seed % 4 != 0;
  if (seed % 5 < 2) options.zero_fill = FillPolicy::separate;
  return options;
}

/// Plain buffers, and pages on demand.
GraphAllocatorOptions way(std::uint64_t seed, bool pages) {
  GraphAllocatorOptions options{.plan = quick(seed)};
  if (pages) options.virtual_memory = {&gpu()};
  options.address_space = Bytes(std::int64_t{1} << 30);
  return options;
}

struct Totals {
  std::size_t runs = 0;
  std::size_t ops = 0;
};

/// Three runs, with other buffers of the caller, another batch and other inputs each time.
void run_three_times(const Graph& graph, Machine& machine, std::uint64_t seed, bool pages, Totals& totals) {
  GraphAllocator allocator(std::vector<BufferType*>(graph.memories().size(), &gpu().buffer_type()), way(seed, pages));
  const Status reserved = allocator.reserve(graph);
  ASSERT_TRUE(reserved) << to_string(reserved.error());
  ProgramRun run(graph, machine, gpu().buffer_type(), seed);
  run.reads_inputs_of_choices = seed % 2 == 1;
  for (std::size_t number = 0; number < 3; ++number) {
    const Result<const Allocation*> allocation = allocator.allocate(graph);
    ASSERT_TRUE(allocation) << to_string(allocation.error());
    const Status status = run.run(**allocation, allocator, number);
    ASSERT_THAT(run.findings(), IsEmpty()) << "in run " << number << " of\n" << dump_graph(graph);
    ASSERT_TRUE(status) << to_string(status.error());
    ++totals.runs;
  }
  totals.ops += run.ops();
}

TEST(CudaProgram, RandomConstrainedGraphs) {
  const std::unique_ptr<Machine> machine = make_gpu_machine(gpu()).value();
  Totals totals;
  for (std::uint64_t seed = seeds(300).first; seed < seeds(300).last && !::testing::Test::HasFailure(); ++seed)
    run_three_times(constrained_graph(seed), *machine, seed, seed % 4 == 3, totals);
  std::cout << totals.runs << " runs, " << totals.ops << " ops\n";
  EXPECT_TRUE(!seeds(300).is_many() || totals.ops > 1'000);
}

/// In plain buffers and in pages. Graphs that cannot be planned are named.
TEST(CudaProgram, GraphsOfTheExamplesTheFormatsAndFolders) {
  const std::vector<GraphText> texts = graph_texts();
  if (texts.empty()) GTEST_SKIP() << "NO GRAPHS: the source tree is not here, and STOWAGE_GRAPHS names no folder";
  const std::unique_ptr<Machine> machine = make_gpu_machine(gpu()).value();
  Totals totals;
  std::size_t graphs = 0;
  for (const GraphText& each : texts) {
    const Result<Graph> graph = parse_graph(each.text, each.name);
    if (!graph) {
      std::cout << each.name << ": no graph\n";
      continue;
    }
    if (const Result<Planned> planned = plan(*graph, quick(1)); !planned) {
      std::cout << each.name << ": " << to_string(planned.error()) << "\n";
      continue;
    }
    SCOPED_TRACE(each.name + ": " + graph->name());
    ++graphs;
    for (std::uint64_t seed = 1; seed < 7 && !HasFailure(); ++seed)
      run_three_times(*graph, *machine, seed, seed % 2 == 0, totals);
  }
  std::cout << graphs << " graphs, " << totals.runs << " runs, " << totals.ops << " ops\n";
  EXPECT_GT(graphs, 0U);
}

/// The input of the branch is there at once; a quarter of a second of work comes behind it on the same stream.
TEST(CudaProgram, AChoiceWaitsForItsInputAndNotForTheWorkBehindIt) {
  constexpr std::size_t kLarge = std::size_t{256} << 20;
  GraphBuilder builder("choice");
  const auto add = [&](const char* name, std::size_t size, TensorFlags flags) {
    return builder.add(Tensor{.name = name, .size = Bytes(static_cast<std::int64_t>(size)), .flags = flags});
  };
  const TensorId c = add("c", 64, {});
  const TensorId large = add("large", kLarge, TensorFlag::output);
  const TensorId y = add("y", 64, TensorFlag::output);
  builder.add(Op{.name = "f", .kind = "F", .inputs = {}, .outputs = {c}});
  builder.add(Op{.name = "late", .kind = "F", .inputs = {c}, .outputs = {large}});
  const Body body{.tensors = {Tensor{.name = "out", .size = Bytes(64)}},
                  .ops = {Op{.name = "g", .kind = "F", .inputs = {}, .outputs = {TensorId(0)}}},
                  .inputs = {},
                  .outputs = {{TensorId(0), y}},
                  .carried = {}};
  builder.add(Op{
      .name = "if", .kind = "IF", .inputs = {c}, .outputs = {y}, .control = Control::branch, .bodies = {body, body}});
  const Graph graph = builder.build().value();
  GraphAllocator allocator(gpu().buffer_type());
  const Allocation& allocation = **allocator.allocate(graph);
  const std::unique_ptr<Machine> machine = make_gpu_machine(gpu()).value();
  std::optional<EventId> behind;
  bool asked = false;
  const RunOps ops{.run = [&](const OpCall& call) -> Status {
                     const bool late = graph.op(call.op).name == "late";
                     for (int i = 0; i < (late ? 200 : 1); ++i) {
                       const OpWork work{.stream = call.stream, .writes = {{call.outputs[0], late ? kLarge : 64, 1}}};
                       STOWAGE_TRY_STATUS(machine->launch(work, [](std::uint64_t) {}));
                     }
                     if (late) {
                       STOWAGE_TRY(behind, gpu().record(call.stream));
                     }
                     return Done{};
                   },
                   .choose = [&](Decision& decision) -> Result<std::size_t> {
                     asked = true;
                     std::vector<std::byte> value(64);
                     STOWAGE_TRY_STATUS(decision.read(0, value));
                     STOWAGE_TRY(const bool complete, gpu().is_complete(*behind));
                     EXPECT_FALSE(complete) << "the work behind is still going on";
                     std::vector<std::byte> right(64);
                     write_bytes(right, 0, 1);
                     EXPECT_EQ(value, right);
                     return 1;
                   }};
  ASSERT_TRUE(run(graph, allocation, gpu(), ops));
  EXPECT_TRUE(asked);
  gpu().forget(*behind);
}

/// Proof that the runs above can fail: without its fills and copies a program goes wrong.
TEST(CudaProgram, FindsAMissingStep) {
  const std::unique_ptr<Machine> machine = make_gpu_machine(gpu()).value();
  std::size_t changed = 0;
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Graph graph = constrained_graph(seed);
    GraphAllocator allocator(std::vector<BufferType*>(graph.memories().size(), &gpu().buffer_type()), way(seed, false));
    const Allocation& allocation = **allocator.allocate(graph);
    Program without = *allocation.plan.program;
    const auto removed = std::erase_if(without.steps, [](const ProgramStep& step) {
      return step.kind == ProgramStep::Kind::fill || step.kind == ProgramStep::Kind::copy;
    });
    if (removed == 0) continue;
    ProgramRun run(graph, *machine, gpu().buffer_type(), seed);
    run.program = std::move(without);
    ++changed;
    (void)run.run(allocation, allocator, 0);
    if (!run.findings().empty()) ++found;
  }
  EXPECT_GT(found * 2, changed);
}

/// The driver is asked whose a buffer is.
TEST(CudaProgram, BuffersOfTheHostAreRefused) {
  GraphBuilder builder("bound");
  const TensorId x =
      builder.add(Tensor{.name = "x", .size = Bytes(64), .flags = {TensorFlag::input, TensorFlag::zero_copy}});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(64), .flags = TensorFlag::output});
  builder.add(Op{.name = "f", .kind = "F", .inputs = {x}, .outputs = {y}});
  const Graph graph = builder.build().value();
  GraphAllocator allocator(gpu().buffer_type());
  ASSERT_TRUE(allocator.allocate(graph));
  const std::unique_ptr<Buffer> own = gpu().buffer_type().allocate(Bytes(64)).value();
  const std::unique_ptr<Buffer> pinned = gpu().pinned_type().allocate(Bytes(64)).value();
  EXPECT_TRUE(allocator.bind(x, {own->base(), Bytes(64), gpu().id()}));
  EXPECT_FALSE(allocator.bind(x, {pinned->base(), Bytes(64), gpu().id()}));
}

}  // namespace
}  // namespace stowage::testing
