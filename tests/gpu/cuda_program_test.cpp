#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/program_machine.hpp"
#include "stowage/alloc.hpp"
#include "support/environment.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/dump_graph.hpp"
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
void run_three_times(const Graph& graph, Machine& machine, std::uint64_t seed, Totals& totals) {
  GraphAllocator allocator(std::vector<BufferType*>(graph.memories().size(), &gpu().buffer_type()),
                           way(seed, seed % 4 == 3));
  const Status reserved = allocator.reserve(graph);
  ASSERT_TRUE(reserved) << to_string(reserved.error());
  ProgramRun run(graph, machine, gpu().buffer_type(), seed);
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
    run_three_times(constrained_graph(seed), *machine, seed, totals);
  std::cout << totals.runs << " runs, " << totals.ops << " ops\n";
  EXPECT_TRUE(!seeds(300).is_many() || totals.ops > 1'000);
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
