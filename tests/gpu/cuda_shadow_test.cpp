#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "generate_graphs.hpp"
#include "gpu/shadow_run.hpp"
#include "stowage/alloc.hpp"
#include "stowage/io.hpp"
#include "stowage/planner.hpp"
#include "support/data.hpp"
#include "support/generators/random_graph.hpp"
#include "support/judges/shadow/families.hpp"

/// Plans and `GraphAllocator` on a real GPU: a run in planned memory gives the same results as a run in which nothing
/// shares memory. Needs a GPU; see docs/cuda.md.
namespace stowage::testing {
namespace {

CudaDevice& gpu() {
  static const std::unique_ptr<CudaDevice> device = CudaDevice::make().value();
  return *device;
}

GpuShadow& shadow() {
  static const std::unique_ptr<GpuShadow> one = GpuShadow::make(gpu()).value();
  return *one;
}

/// Separate bytes for everything.
class OwnMemory {
 public:
  explicit OwnMemory(const Graph& graph) : families_(find_families(graph, Bytes(1))) {
    for (const Family& family : families_.families) {
      starts_.push_back(size_);
      if (!family.flags.has(TensorFlag::constant)) take(Bytes(static_cast<std::int64_t>(family.cells)));
    }
    for (const Op& op : graph.ops()) {
      workspaces_.emplace_back();
      for (const Workspace& workspace : op.workspaces) {
        workspaces_.back().push_back(size_);
        take(workspace.size);
      }
    }
  }

  [[nodiscard]] Bytes size() const { return size_; }

  GpuAddresses addresses(const Graph& graph) {
    buffer_ = gpu().buffer_type().allocate(size_).value();
    GpuAddresses addresses;
    for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
      const Seat& seat = families_.seats[t];
      const bool touched = !families_.families[seat.family].flags.has(TensorFlag::constant) && seat.count > 0;
      addresses.tensors.push_back(touched ? buffer_->base() + starts_[seat.family].value() + seat.first : nullptr);
    }
    for (const std::vector<Bytes>& of_op : workspaces_) {
      addresses.workspaces.emplace_back();
      for (const Bytes start : of_op) addresses.workspaces.back().push_back(buffer_->base() + start.value());
    }
    return addresses;
  }

 private:
  void take(Bytes size) { size_ += align_up(size, Bytes(256)); }

  const Families families_;
  std::vector<Bytes> starts_;  ///< By family.
  std::vector<std::vector<Bytes>> workspaces_;
  Bytes size_;
  std::unique_ptr<Buffer> buffer_;
};

/// The addresses of an allocation, of variables and of externals.
struct Bound {
  AllocatedTensors stay;
  std::vector<std::unique_ptr<Buffer>> externals;  ///< By family.
  GpuAddresses addresses;
};

Bound bind(const Graph& graph, const Allocation& allocation) {
  Bound bound{allocate_all(graph.tensors(), gpu().buffer_type(), {.only = TensorFlag::variable}).value(), {}, {}};
  const Families families = find_families(graph, Bytes(1));
  bound.externals.resize(families.families.size());
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const Seat& seat = families.seats[t];
    const Family& family = families.families[seat.family];
    std::byte* address = nullptr;
    if (family.flags.has(TensorFlag::external)) {
      std::unique_ptr<Buffer>& buffer = bound.externals[seat.family];
      if (buffer == nullptr)
        buffer = gpu().buffer_type().allocate(Bytes(static_cast<std::int64_t>(family.cells))).value();
      address = seat.count > 0 ? buffer->base() + seat.first : nullptr;
    } else if (!family.flags.has(TensorFlag::constant) && seat.count > 0) {
      const Address& own = allocation.tensors[t];
      address = (own.buffer != nullptr ? own : bound.stay.tensors[t]).data();
    }
    bound.addresses.tensors.push_back(address);
  }
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    bound.addresses.workspaces.emplace_back();
    for (std::size_t w = 0; w < graph.ops()[k].workspaces.size(); ++w) {
      bound.addresses.workspaces.back().push_back(allocation.workspace(OpId(k), w).data());
    }
  }
  return bound;
}

/// Graphs in which a tensor is variable or external only through an alias have no address to bind.
bool is_bindable(const Graph& graph, const Allocation& allocation) {
  const Families families = find_families(graph, Bytes(1));
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const TensorFlags flags = families.families[families.seats[t].family].flags;
    const bool own = flags.any_of({TensorFlag::variable, TensorFlag::external, TensorFlag::constant});
    if (own && !graph.tensor(graph.root(TensorId(t)).tensor).flags.any_of(kOwnAddress)) return false;
    if (!own && families.seats[t].count > 0 && allocation.tensors[t].buffer == nullptr) return false;
  }
  return true;
}

std::vector<std::uint64_t> run_apart(const Graph& graph, std::uint64_t seed) {
  OwnMemory memory(graph);
  return shadow().run(graph, memory.addresses(graph), seed).value();
}

PlanOptions quick() { return {.time_limit = {}, .node_budget = 2000}; }

/// Plain buffers, pages on demand.
std::vector<GraphAllocatorOptions> ways() {
  GraphAllocatorOptions pages{.plan = quick(), .virtual_memory = {&gpu()}};
  pages.address_space = Bytes(std::int64_t{64} << 30);
  return {{.plan = quick()}, pages};
}

void expect_same(const Graph& graph, GraphAllocator& allocator, std::uint64_t seed) {
  const Result<const Allocation*> allocation = allocator.allocate(graph);
  ASSERT_TRUE(allocation) << to_string(allocation.error());
  if (!is_bindable(graph, **allocation)) return;
  const Bound bound = bind(graph, **allocation);
  const std::vector<std::uint64_t> apart = run_apart(graph, seed);
  for (std::uint64_t turn = 0; turn < 2; ++turn) {
    ASSERT_EQ(shadow().run(graph, bound.addresses, seed + turn).value(), apart) << graph.name() << ", turn " << turn;
  }
}

TEST(CudaShadow, RandomGraphsOfSeveralStreams) {
  for (const GraphAllocatorOptions& options : ways()) {
    GraphAllocator allocator({&gpu().buffer_type(), &gpu().buffer_type()}, options);
    for (std::uint64_t seed = 0; seed < 150 && !HasFailure(); ++seed) {
      const Graph graph = random_graph(seed);
      ASSERT_TRUE(allocator.reserve(graph));
      expect_same(graph, allocator, seed);
    }
  }
  EXPECT_GT(shadow().kernels(), 10000U);
}

TEST(CudaShadow, GeneratedGraphsOfOneAndTwoStreams) {
  using bench::Streams;
  for (const Graph& graph : {bench::make_llm(600, Streams::one), bench::make_training(600, Streams::one),
                             bench::make_training(600, Streams::two)}) {
    for (const GraphAllocatorOptions& options : ways()) {
      GraphAllocator allocator(gpu().buffer_type(), options);
      expect_same(graph, allocator, 7);
    }
  }
}

TEST(CudaShadow, RecordedGraphs) {
  if (graph_files().empty()) GTEST_SKIP() << "NO DATA: there are no recorded graphs (set STOWAGE_DATA)";
  for (const std::filesystem::path& file : graph_files()) {
    const Graph graph = parse_graph(read_file(file.string()).value(), file.string()).value();
    if (OwnMemory(graph).size() > Bytes(std::int64_t{100} << 30)) {
      fmt::print("{}: more than the device has\n", graph.name());
      continue;
    }
    for (const GraphAllocatorOptions& options : ways()) {
      GraphAllocator allocator(gpu().buffer_type(), options);
      expect_same(graph, allocator, 3);
      fmt::print("{}: {} in place of {}\n", graph.name(), to_human(allocator.buffer_size(0)),
                 to_human(OwnMemory(graph).size()));
    }
  }
}

/// Proof that the runs above can fail.
TEST(CudaShadow, FindsAnAddressThatIsWrong) {
  const Graph graph = bench::make_llm(200, bench::Streams::one);
  GraphAllocator allocator(gpu().buffer_type(), {.plan = quick()});
  Allocation allocation = **allocator.allocate(graph);
  const std::vector<std::uint64_t> apart = run_apart(graph, 1);
  EXPECT_EQ(shadow().run(graph, bind(graph, allocation).addresses, 1).value(), apart);
  for (Address& address : allocation.tensors) address.offset = Bytes(0);
  EXPECT_NE(shadow().run(graph, bind(graph, allocation).addresses, 1).value(), apart);
}

}  // namespace
}  // namespace stowage::testing
