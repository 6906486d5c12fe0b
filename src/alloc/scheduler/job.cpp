#include "alloc/scheduler/job.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "alloc/scheduler/unserved.hpp"

namespace stowage::scheduling {
namespace {

/// Alignment of the copies in the staging buffer.
constexpr Bytes kStagingAlignment{64};

void add_distinct(std::vector<std::size_t>& list, std::size_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

class SplitPlanner {
 public:
  SplitPlanner(const Partition& partition, std::span<const Backend> backends)
      : partition_(partition), backends_(backends) {}

  SplitJob plan(const Split& split) {
    SplitJob job;
    staging_ = Bytes(0);
    for (std::size_t i = split.first_copy; i < split.last_copy; ++i) add_copy(job, split, i);
    // Copies to the staging buffer go first, so that they are likely complete when the copies from it need them.
    std::partition(job.batches.begin(), job.batches.end(),
                   [](const CopyBatch& batch) { return batch.way == CopyBatch::Way::to_staging; });
    add_distinct(job.memories, memory_number(backends_, split.backend));
    for (std::size_t k = split.begin.index(); k < split.end.index(); ++k) {
      if (partition_.origins[k] && !partition_.graph.ops()[k].no_task) add_memories(job, partition_.graph.ops()[k]);
    }
    return job;
  }

  /// The staging memory that the last planned split needs.
  [[nodiscard]] Bytes staging() const { return staging_; }

 private:
  /// Batches change the order of a split's copies, but the plan was made for the order of ops. The order makes no
  /// difference, because no copy reads what another writes: all copies of a split go to its own memory, and none comes
  /// from there.
  void add_copy(SplitJob& job, const Split& split, std::size_t index) {
    if (partition_.copies[index].bytes == Bytes(0)) return;
    const std::size_t from = memory_of(partition_.copies[index].from);
    const std::size_t to = memory_of(partition_.copies[index].to);
    const std::size_t own = memory_number(backends_, split.backend);
    STOWAGE_CHECK(memory_number(backends_, to) == own && memory_number(backends_, from) != own,
                  "a copy goes to the memory of its split, from another memory");
    const bool same_device = backends_[from].device == backends_[to].device;
    using Way = CopyBatch::Way;
    if (backends_[from].memory->host_visible() || same_device) {
      merge(job, {.backend = to, .way = Way::direct, .parts = {{index}}, .memories = {from, to}});
    } else if (backends_[to].memory->host_visible()) {
      merge(job, {.backend = from, .way = Way::direct, .parts = {{index}}, .memories = {from, to}});
    } else {
      const std::size_t staging = backends_.size();
      merge(job, {.backend = from, .way = Way::to_staging, .parts = {{index, staging_}}, .memories = {from, staging}});
      merge(job, {.backend = to, .way = Way::from_staging, .parts = {{index, staging_}}, .memories = {staging, to}});
      staging_ = align_up(staging_ + partition_.copies[index].bytes, kStagingAlignment);
    }
  }

  /// Adds to the batch of the same backend and way, if there is one. `added` names memories by backend.
  void merge(SplitJob& job, const CopyBatch& added) const {
    auto batch = std::find_if(job.batches.begin(), job.batches.end(), [&](const CopyBatch& each) {
      return each.way == added.way && each.backend == added.backend;
    });
    if (batch == job.batches.end()) batch = job.batches.insert(batch, {.backend = added.backend, .way = added.way});
    batch->parts.insert(batch->parts.end(), added.parts.begin(), added.parts.end());
    for (const std::size_t memory : added.memories) add_distinct(batch->memories, memory_number(backends_, memory));
  }

  void add_memories(SplitJob& job, const Op& op) const {
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) add_distinct(job.memories, memory_number(backends_, memory_of(*input)));
    }
    for (const TensorId output : op.outputs) add_distinct(job.memories, memory_number(backends_, memory_of(output)));
  }

  [[nodiscard]] std::size_t memory_of(TensorId tensor) const { return partition_.graph.tensor(tensor).memory.index(); }

  const Partition& partition_;
  std::span<const Backend> backends_;
  Bytes staging_;
};

}  // namespace

std::size_t memory_number(std::span<const Backend> backends, std::size_t backend) {
  if (backend == backends.size()) return backend;
  const auto first = std::find_if(backends.begin(), backends.end(),
                                  [&](const Backend& each) { return each.memory == backends[backend].memory; });
  return static_cast<std::size_t>(first - backends.begin());
}

Result<Job> make_job(const Graph& graph, std::span<const Backend> backends, const PartitionOptions& options) {
  if (const std::optional<std::string> unserved = describe_unserved(graph)) {
    return Error{ErrorCode::invalid,
                 fmt::format("{}: a scheduler hands out addresses and copies between memories, and carries out nothing "
                             "else; where one device can access all memories, run the graph of `partition` with "
                             "GraphAllocator and `run`",
                             *unserved),
                 {}};
  }
  STOWAGE_TRY(Partition partition, stowage::partition(graph, backends, options));
  partitioning::Families families = partitioning::find_families(partition.graph);
  Job job{graph.description(), std::move(partition), std::move(families), {}, {}, Bytes(0)};
  job.input_sets.resize(job.families.list.size());
  for (std::size_t i = 0; i < job.partition.input_sets.size(); ++i) {
    job.input_sets[job.families.of_tensor[job.partition.input_sets[i].tensor.index()]] = i;
  }
  SplitPlanner planner(job.partition, backends);
  for (const Split& split : job.partition.splits) {
    job.splits.push_back(planner.plan(split));
    job.staging = std::max(job.staging, planner.staging());
  }
  return job;
}

}  // namespace stowage::scheduling
