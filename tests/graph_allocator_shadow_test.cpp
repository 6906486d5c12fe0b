#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/alloc.hpp"
#include "stowage/io.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/data.hpp"
#include "support/generators/random_graph.hpp"
#include "support/generators/shrink_graph.hpp"
#include "support/judges/shadow/families.hpp"
#include "support/judges/shadow/hash.hpp"
#include "support/judges/shadow/memory.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Runs at the addresses from `GraphAllocator` and `allocate_all` equal, bit for bit, runs in which every tensor has
/// separate memory: in host memory, and in memory of a device that only copies can access.
namespace stowage::testing {
namespace {

using ::testing::IsEmpty;

/// A graph with an address for everything that a run accesses.
struct Bound {
  Allocation allocation;
  AllocatedTensors stay;                          ///< Variables.
  std::vector<std::vector<std::byte>> elsewhere;  ///< By tensor: externals.

  [[nodiscard]] const Address& address(std::size_t tensor) const {
    const Address& own = allocation.tensors[tensor];
    return own.buffer != nullptr ? own : stay.tensors[tensor];
  }
};

Bound bind(const Graph& graph, const Allocation& allocation, BufferType& type) {
  Result<AllocatedTensors> stay = allocate_all(graph.tensors(), type, {.only = TensorFlag::variable});
  EXPECT_TRUE(stay);
  return {allocation, std::move(stay).value(), {}};
}

/// Only graphs in which no tensor is a variable through an alias only, because `allocate_all` does not know ops.
bool has_own_addresses_by_alias(const Graph& graph) {
  for (const Op& op : graph.ops()) {
    for (const Alias& alias : op.aliases) {
      const TensorFlags flags = graph.tensor(graph.root(*op.inputs[alias.input]).tensor).flags |
                                graph.tensor(graph.root(op.outputs[alias.output]).tensor).flags;
      if (flags.any_of(kOwnAddress)) return true;
    }
  }
  return false;
}

PlanOptions quick() { return {.time_limit = {}, .node_budget = 500}; }

// -------------------------------------------------------------------------------------------------------- on the host

std::span<std::byte> bytes_at(const Address& address, Bytes size) {
  if (size == Bytes(0) || address.data() == nullptr) return {};
  return {address.data(), static_cast<std::size_t>(size.value())};
}

HostMemory host_memory(const Graph& graph, Bound& bound) {
  HostMemory memory;
  const Families families = find_families(graph, Bytes(1));
  std::vector<std::vector<std::byte>>& elsewhere = bound.elsewhere;
  elsewhere.resize(families.families.size());
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const Seat& seat = families.seats[t];
    const TensorFlags flags = families.families[seat.family].flags;
    std::span<std::byte> bytes;
    if (flags.has(TensorFlag::external)) {
      elsewhere[seat.family].resize(families.families[seat.family].cells);
      bytes = std::span(elsewhere[seat.family]).subspan(seat.first, seat.count);
    } else if (!flags.has(TensorFlag::constant)) {
      bytes = bytes_at(bound.address(t), graph.tensors()[t].size);
    }
    memory.tensors.push_back(bytes);
  }
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    memory.workspaces.emplace_back();
    for (std::size_t w = 0; w < graph.ops()[k].workspaces.size(); ++w) {
      memory.workspaces.back().push_back(
          bytes_at(bound.allocation.workspace(OpId(k), w), graph.ops()[k].workspaces[w].size));
    }
  }
  return memory;
}

ShadowReport run_on_host(const Graph& graph, const Allocation& allocation, const ShadowOptions& options) {
  Bound bound = bind(graph, allocation, cpu_device().buffer_type());
  return shadow_execute(graph, host_memory(graph, bound), options);
}

void expect_runs(const Graph& graph, const Allocation& allocation, std::uint64_t seed) {
  ShadowOptions options{.seed = seed};
  EXPECT_THAT(run_on_host(graph, allocation, options).findings, IsEmpty()) << graph.name();
  options.order = ShadowOptions::Order::random;
  EXPECT_THAT(run_on_host(graph, allocation, options).findings, IsEmpty()) << graph.name() << ", in another order";
}

/// Graphs come and go in one allocator: planned, smaller, again, trimmed.
void run_in_turns(GraphAllocator& allocator, std::uint64_t first_seed, std::size_t& smaller_ones) {
  std::vector<Graph> graphs;
  for (std::uint64_t seed = first_seed; seed < first_seed + 5; ++seed) {
    graphs.push_back(random_graph(seed));
    if (has_own_addresses_by_alias(graphs.back())) graphs.pop_back();
  }
  for (const Graph& graph : graphs) ASSERT_TRUE(allocator.reserve(graph));
  for (std::uint64_t turn = 0; turn < 3 * graphs.size(); ++turn) {
    const Graph& graph = graphs[turn % graphs.size()];
    const std::optional<Graph> smaller = turn % 2 == 0 ? shrink_graph(graph, first_seed + turn) : std::nullopt;
    const Graph& now = smaller ? *smaller : graph;
    const std::uint64_t before = allocator.counters().fits_smaller;
    Result<const Allocation*> allocation = allocator.allocate(now);
    if (!allocation && allocation.error().code == ErrorCode::not_reserved) {
      ASSERT_TRUE(allocator.reserve(now));
      allocation = allocator.allocate(now);
    }
    ASSERT_TRUE(allocation) << to_string(allocation.error());
    if (smaller) smaller_ones += allocator.counters().fits_smaller - before;
    expect_runs(now, **allocation, turn);
    if (turn % 4 != 3) continue;
    ASSERT_TRUE(turn % 8 == 3 ? allocator.trim() : allocator.trim(now));
  }
}

TEST(GraphAllocatorShadow, RandomGraphsRunInTheMemoryOfTheHost) {
  const std::unique_ptr<BufferType> bytes = *make_cpu_buffer_type("bytes", {.alignment = Bytes(1)});
  std::size_t smaller_ones = 0;
  for (std::uint64_t seed = 0; seed < 1'000 && !HasFailure(); seed += 5) {
    GraphAllocator two({bytes.get(), &cpu_device().buffer_type()}, {.plan = quick(), .max_graphs = 4});
    run_in_turns(two, seed, smaller_ones);
    GraphAllocator same({bytes.get(), bytes.get()}, {.plan = quick()});
    run_in_turns(same, seed, smaller_ones);
  }
  EXPECT_GT(smaller_ones, 500U);
}

TEST(GraphAllocatorShadow, RandomGraphsRunInPagesOfTheHost) {
  if (cpu_device().virtual_memory() == nullptr) GTEST_SKIP() << "NO VIRTUAL MEMORY on this machine";
  std::size_t smaller_ones = 0;
  for (std::uint64_t seed = 0; seed < 200 && !HasFailure(); seed += 5) {
    GraphAllocatorOptions options{.plan = quick(), .virtual_memory = {&cpu_device()}};
    options.address_space = Bytes(1 << 20);
    options.page_size = Bytes(1);
    GraphAllocator pages({&cpu_device().buffer_type(), &cpu_device().buffer_type()}, options);
    run_in_turns(pages, seed, smaller_ones);
  }
  EXPECT_GT(smaller_ones, 100U);
}

/// Proof that the runs above can fail: a tensor that overlaps another is found.
TEST(GraphAllocatorShadow, FindsAnAddressThatIsWrong) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Graph graph = random_graph(seed, {.max_memories = 1});
    if (has_own_addresses_by_alias(graph)) continue;
    GraphAllocator allocator(cpu_device().buffer_type(),
                             {.plan = {.no_reuse = true, .time_limit = {}, .node_budget = 500}});
    Allocation allocation = **allocator.allocate(graph);
    for (Address& address : allocation.tensors) address.offset = Bytes(0);
    if (!run_on_host(graph, allocation, {}).findings.empty()) ++found;
  }
  EXPECT_GT(found, 50U);
}

TEST(GraphAllocatorShadow, RecordedGraphsRunInTheMemoryOfTheHost) {
  if (graph_files().empty()) GTEST_SKIP() << "NO DATA: there are no recorded graphs (set STOWAGE_DATA)";
  constexpr Bytes kMost{std::int64_t{3} << 30};
  std::size_t ran = 0;
  const auto size_of = [](const Graph& graph, TensorId tensor) {
    const bool constant = graph.tensor(graph.root(tensor).tensor).flags.has(TensorFlag::constant);
    return constant ? Bytes(0) : graph.tensor(tensor).size;
  };
  for (const std::filesystem::path& file : graph_files()) {
    const Graph graph = *parse_graph(*read_file(file.string()), file.string());
    Bytes touched;
    for (const Op& op : graph.ops()) {
      for (const std::optional<TensorId>& input : op.inputs) touched += input ? size_of(graph, *input) : Bytes(0);
      for (const TensorId output : op.outputs) touched += size_of(graph, output);
    }
    if (touched > kMost) continue;  // real bytes, unlike those of the other shadow tests, cannot be scaled down
    GraphAllocator allocator(cpu_device().buffer_type(), {.plan = {.time_limit = {}, .node_budget = 20'000}});
    const Result<const Allocation*> allocation = allocator.allocate(graph);
    ASSERT_TRUE(allocation) << to_string(allocation.error());
    const ShadowReport report = run_on_host(graph, **allocation, {});
    EXPECT_THAT(report.findings, IsEmpty()) << graph.name();
    EXPECT_GT(report.compared, allocator.buffer_size(0)) << graph.name();
    ++ran;
  }
  EXPECT_GE(ran, 3U);
}

// -------------------------------------------------------------------------------------------------------- on a device

/// Step by step: every input is read from the device and compared, then outputs are written to both.
class DeviceRun {
 public:
  DeviceRun(const Graph& graph, const Bound& bound)
      : graph_(graph), bound_(bound), families_(find_families(graph, Bytes(1))), written_(families_.families.size()) {
    for (const Family& family : families_.families) reference_.emplace_back(family.cells);
  }

  std::size_t compared = 0;
  std::size_t wrong = 0;

  void run() {
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const TensorFlags flags = families_.families[families_.seats[t].family].flags;
      const bool own = !graph_.tensors()[t].view_of && flags.has(TensorFlag::variable);
      if (own || graph_.tensors()[t].flags.has(TensorFlag::input)) write(TensorId(t), mix(1, t));
    }
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      if (!graph_.ops()[k].no_task) step(k);
    }
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      if (graph_.tensors()[t].flags.has(TensorFlag::output)) check(TensorId(t));
    }
  }

 private:
  [[nodiscard]] bool skipped(TensorId tensor) const {
    const Seat& seat = families_.seats[tensor.index()];
    const TensorFlags flags = families_.families[seat.family].flags;
    return seat.count == 0 || flags.any_of({TensorFlag::constant, TensorFlag::external});
  }

  void step(std::size_t k) {
    const Op& op = graph_.ops()[k];
    for (std::size_t w = 0; w < op.workspaces.size(); ++w) {
      const Address& at = bound_.allocation.workspace(OpId(k), w);
      if (op.workspaces[w].size == Bytes(0)) continue;
      EXPECT_TRUE(at.buffer->fill({at.offset, at.offset + op.workspaces[w].size}, 0xdb));
    }
    std::uint64_t key = mix(2, k);
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) key = mix(key, check(*input));
    }
    for (const TensorId output : op.outputs) write(output, mix(key, output.index()));
    for (const TensorId output : op.outputs) check(output);
  }

  void write(TensorId tensor, std::uint64_t key) {
    if (skipped(tensor)) return;
    const Seat& seat = families_.seats[tensor.index()];
    const std::span<std::byte> bytes = std::span(reference_[seat.family]).subspan(seat.first, seat.count);
    fill(bytes, key);
    const Address& at = bound_.address(tensor.index());
    EXPECT_TRUE(at.buffer->write(at.offset, bytes));
    written_[seat.family].add(seat.first, seat.count);
  }

  /// The expected hash.
  std::uint64_t check(TensorId tensor) {
    if (skipped(tensor)) return 0;
    const Seat& seat = families_.seats[tensor.index()];
    const std::vector<std::byte> mask = written_[seat.family].mask(seat.first, seat.count);
    std::vector<std::byte> found(seat.count);
    const Address& at = bound_.address(tensor.index());
    EXPECT_TRUE(at.buffer->read(at.offset, found));
    const Operand right{std::span(reference_[seat.family]).subspan(seat.first, seat.count), mask};
    if (first_difference({found, mask}, right)) ++wrong;
    ++compared;
    return hash(right);
  }

  const Graph& graph_;
  const Bound& bound_;
  Families families_;
  std::vector<WrittenCells> written_;              ///< By family.
  std::vector<std::vector<std::byte>> reference_;  ///< By family.
};

/// How much was compared.
std::size_t run_on_device(SimDevice& sim, GraphAllocator& allocator, std::uint64_t seed) {
  const Graph graph = random_graph(seed, {.max_streams = 1});
  if (has_own_addresses_by_alias(graph)) return 0;
  EXPECT_TRUE(allocator.reserve(graph));
  const Bound bound = bind(graph, **allocator.allocate(graph), sim.buffer_type());
  DeviceRun run(graph, bound);
  run.run();
  EXPECT_EQ(run.wrong, 0U) << graph.name();
  return run.compared;
}

TEST(GraphAllocatorShadow, RandomGraphsRunOnADeviceThatOnlyCopiesReach) {
  for (const bool pages : {false, true}) {
    auto sim = SimDevice::make({.alignment = Bytes(32), .skew = Bytes(pages ? 0 : 24), .granularity = Bytes(64)});
    GraphAllocatorOptions options{.plan = quick()};
    if (pages) options.virtual_memory = {sim.get()};
    options.address_space = Bytes(1 << 20);
    options.page_size = Bytes(256);
    std::size_t compared = 0;
    {
      GraphAllocator allocator({&sim->buffer_type(), &sim->buffer_type()}, options);
      for (std::uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed)
        compared += run_on_device(*sim, allocator, seed);
    }
    EXPECT_GT(compared, 1'000U);
    EXPECT_EQ(sim->live_objects(), 0U);
    EXPECT_THAT(sim->violations(), IsEmpty());
  }
}

}  // namespace
}  // namespace stowage::testing
