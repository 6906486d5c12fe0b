#include "stowage/alloc/scheduler.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "alloc/scheduler/job.hpp"
#include "alloc/scheduler/memory_uses.hpp"

namespace stowage {
namespace {

using scheduling::CopyBatch;
using scheduling::Job;
using scheduling::MemoryUses;
using scheduling::SplitJob;

std::vector<BufferType*> types_of(const std::vector<Backend>& backends) {
  std::vector<BufferType*> types;
  for (const Backend& backend : backends) {
    STOWAGE_CHECK(backend.memory != nullptr && backend.device != nullptr, "a backend has a memory and a device");
    types.push_back(backend.memory);
  }
  return types;
}

}  // namespace

class Scheduler::State {
 public:
  State(std::vector<Backend> backends, SchedulerOptions options)
      : backends_(std::move(backends)),
        options_(std::move(options)),
        staging_type_(options_.staging != nullptr ? options_.staging : &cpu_device().buffer_type()),
        allocator_(types_of(backends_), options_.allocator),
        uses_(backends_, backends_.size() + 1, counters_),
        marks_(std::max<std::size_t>(options_.partition.input_sets, 1)),
        input_set_(marks_.size() - 1) {}

  ~State() {
    (void)synchronize();
    for (MemoryUses::Mark& mark : marks_) uses_.forget(mark);
  }

  Status reserve(const Graph& graph) {
    STOWAGE_TRY(std::shared_ptr<const Job> job, job_for(graph));
    return reserve(*job);
  }

  Result<std::vector<Bytes>> reserve_sizes(const Graph& graph) {
    STOWAGE_TRY(std::shared_ptr<const Job> job, job_for(graph));
    return allocator_.reserve_sizes(job->partition.graph);
  }

  Status allocate(const Graph& graph, std::span<const BoundTensor> bound) {
    STOWAGE_TRY(std::shared_ptr<const Job> job, job_for(graph));
    STOWAGE_TRY(std::vector<std::byte*> bases, bases_of(*job, bound));
    if (allocation_ && job == job_) {
      bases_ = std::move(bases);
      return Done{};
    }
    STOWAGE_TRY_STATUS(synchronize());
    STOWAGE_TRY_STATUS(grow_staging(job->staging));
    Result<const Allocation*> allocation = allocator_.allocate(job->partition.graph);
    if (!allocation && allocation.error().code == ErrorCode::not_reserved) {
      STOWAGE_TRY_STATUS(reserve(*job));
      allocation = allocator_.allocate(job->partition.graph);
    }
    if (!allocation) return std::move(allocation).error();
    allocation_ = **allocation;
    job_ = std::move(job);
    bases_ = std::move(bases);
    return Done{};
  }

  Status begin() {
    STOWAGE_TRY_STATUS(check_allocated());
    if (unmarked_) STOWAGE_TRY_STATUS(synchronize());
    const std::size_t next = (input_set_ + 1) % marks_.size();
    STOWAGE_TRY_STATUS(uses_.wait(marks_[next]));
    input_set_ = next;
    return Done{};
  }

  Status run(const std::function<Status(std::size_t)>& work) {
    STOWAGE_TRY_STATUS(check_allocated());
    // Work left over from the failed run may still overwrite the inputs, even if the caller writes them now.
    if (unmarked_)
      return Error{
          ErrorCode::invalid, "the last run failed: call begin or synchronize, write the inputs again, then run", {}};
    unmarked_ = true;
    for (std::size_t i = 0; i < job_->splits.size(); ++i) {
      for (const CopyBatch& batch : job_->splits[i].batches) STOWAGE_TRY_STATUS(copy(batch));
      const std::size_t backend = job_->partition.splits[i].backend;
      for (const std::size_t memory : job_->splits[i].memories) STOWAGE_TRY_STATUS(uses_.enter(backend, memory));
      STOWAGE_TRY_STATUS(work(i));
      STOWAGE_TRY_STATUS(uses_.leave(backend, job_->splits[i].memories));
    }
    STOWAGE_TRY_STATUS(uses_.record(marks_[input_set_]));
    unmarked_ = false;
    return Done{};
  }

  Status synchronize() {
    STOWAGE_TRY_STATUS(uses_.synchronize_all());
    unmarked_ = false;
    return Done{};
  }

  [[nodiscard]] std::byte* address(TensorId tensor) const {
    const std::size_t family = job_->families.of_tensor[tensor.index()];
    const std::ptrdiff_t offset = job_->families.offsets[tensor.index()].value();
    if (bases_[family] != nullptr) return bases_[family] + offset;
    if (const std::optional<std::size_t>& entry = job_->input_sets[family]; entry && input_set_ > 0) {
      std::byte* const base =
          allocation_->tensors[job_->partition.input_sets[*entry].others[input_set_ - 1].index()].data();
      return base == nullptr ? nullptr : base + offset;
    }
    return allocation_->tensors[tensor.index()].data();
  }

  [[nodiscard]] const Allocation& allocation() const { return *allocation_; }
  [[nodiscard]] const Job& job() const { return *job_; }
  [[nodiscard]] const GraphAllocator& allocator() const { return allocator_; }
  [[nodiscard]] std::size_t input_set() const { return input_set_; }
  [[nodiscard]] Bytes staging_size() const { return staging_ ? staging_->size() : Bytes(0); }
  [[nodiscard]] const SchedulerCounters& counters() const { return counters_; }

 private:
  [[nodiscard]] Status check_allocated() const {
    if (allocation_) return Done{};
    return Error{ErrorCode::not_reserved, "no graph is allocated", {}};
  }

  /// The job for the graph, which becomes the first in `jobs_`; makes one if there is none.
  Result<std::shared_ptr<const Job>> job_for(const Graph& graph) {
    const auto known =
        std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& job) { return job->original == graph.description(); });
    if (known != jobs_.end()) {
      std::rotate(jobs_.begin(), known, known + 1);
      return jobs_.front();
    }
    PartitionOptions options = options_.partition;
    if (options_.adapt) options_.adapt(graph, options);
    options.input_sets = marks_.size();
    STOWAGE_TRY(Job made, scheduling::make_job(graph, backends_, options));
    ++counters_.partitions;
    jobs_.insert(jobs_.begin(), std::make_shared<const Job>(std::move(made)));
    if (jobs_.size() > options_.allocator.max_graphs) jobs_.pop_back();
    return jobs_.front();
  }

  Status reserve(const Job& job) {
    STOWAGE_TRY_STATUS(synchronize());
    STOWAGE_TRY_STATUS(grow_staging(job.staging));
    STOWAGE_TRY_STATUS(allocator_.reserve(job.partition.graph));
    allocation_.reset();
    return Done{};
  }

  /// Precondition: no work uses the staging buffer.
  Status grow_staging(Bytes size) {
    if (size <= staging_size()) return Done{};
    STOWAGE_TRY(staging_, staging_type_->allocate(size));
    return Done{};
  }

  /// By family: the address of its lowest byte if it is bound, else null.
  [[nodiscard]] Result<std::vector<std::byte*>> bases_of(const Job& job, std::span<const BoundTensor> bound) const {
    std::vector<std::byte*> bases(job.families.list.size(), nullptr);
    for (const BoundTensor& each : bound) {
      if (each.tensor.index() >= job.original.tensors.size()) {
        return Error{ErrorCode::invalid, fmt::format("bound: tensor {} does not exist", each.tensor.index()), {}};
      }
      STOWAGE_TRY_STATUS(bind(job, each, bases[job.families.of_tensor[each.tensor.index()]]));
    }
    for (const PartitionCopy& copy : job.partition.copies) {
      const std::size_t family = job.families.of_tensor[copy.from.index()];
      if (!job.families.list[family].flags.any_of(kOwnAddress) || bases[family] != nullptr || copy.bytes == Bytes(0))
        continue;
      return Error{ErrorCode::invalid,
                   fmt::format("{} must be copied from the caller's memory, but it is not bound to an address",
                               describe(job.partition.graph.tensor(copy.from), copy.from)),
                   {}};
    }
    return bases;
  }

  /// `base` is null, or follows from another tensor that shares the memory.
  static Status bind(const Job& job, const BoundTensor& bound, std::byte*& base) {
    const Bytes size = job.families.list[job.families.of_tensor[bound.tensor.index()]].size;
    if (bound.address == nullptr && size == Bytes(0)) return Done{};
    const auto refuse = [&](const char* why) {
      return Error{ErrorCode::invalid,
                   fmt::format("bound: {} {}", describe(job.partition.graph.tensor(bound.tensor), bound.tensor), why),
                   {}};
    };
    if (bound.address == nullptr) return refuse("is bound to a null address");
    std::byte* const lowest = bound.address - job.families.offsets[bound.tensor.index()].value();
    if (base != nullptr && base != lowest)
      return refuse("and another tensor that shares its memory are bound to addresses that contradict each other");
    base = lowest;
    return Done{};
  }

  Status copy(const CopyBatch& batch) {
    for (const std::size_t memory : batch.memories) STOWAGE_TRY_STATUS(uses_.enter(batch.backend, memory));
    for (const CopyBatch::Part& part : batch.parts) STOWAGE_TRY_STATUS(copy(batch, part));
    return uses_.leave(batch.backend, batch.memories);
  }

  Status copy(const CopyBatch& batch, const CopyBatch::Part& part) {
    const PartitionCopy& value = job_->partition.copies[part.copy];
    std::byte* const staged = part.staged_at ? staging_->base() + part.staged_at->value() : nullptr;
    std::byte* const to = batch.way == CopyBatch::Way::to_staging ? staged : address(value.to);
    const std::byte* const from = batch.way == CopyBatch::Way::from_staging ? staged : address(value.from);
    const Backend& backend = backends_[batch.backend];
    if (Status status = backend.device->copy(backend.stream, to, from, value.bytes); !status) {
      return explain(value, std::move(status).error());
    }
    if (batch.way == CopyBatch::Way::to_staging) {
      ++counters_.staged;
    } else {
      ++counters_.copies;
      counters_.copied += value.bytes;
    }
    return Done{};
  }

  [[nodiscard]] Error explain(const PartitionCopy& copy, Error error) const {
    const Graph& graph = job_->partition.graph;
    const auto type = [&](TensorId tensor) { return backends_[graph.tensor(tensor).memory.index()].memory->name(); };
    error.message = fmt::format("copy of {}, {} bytes, from {} to {}: {}", describe(graph.tensor(copy.from), copy.from),
                                copy.bytes.value(), type(copy.from), type(copy.to), error.message);
    return error;
  }

  std::vector<Backend> backends_;
  SchedulerOptions options_;
  BufferType* staging_type_;
  SchedulerCounters counters_;
  GraphAllocator allocator_;
  std::unique_ptr<Buffer> staging_;
  MemoryUses uses_;
  std::vector<MemoryUses::Mark> marks_;  ///< By set: the end of the evaluation that last used it.
  std::size_t input_set_;
  bool unmarked_ = false;  ///< Work was submitted that no mark covers.

  std::vector<std::shared_ptr<const Job>> jobs_;
  std::shared_ptr<const Job> job_;  ///< The job that is allocated, or was last.
  std::optional<Allocation> allocation_;
  std::vector<std::byte*> bases_;  ///< By family; null: not bound.
};

Scheduler::Scheduler(std::vector<Backend> backends, SchedulerOptions options)
    : state_(std::make_unique<State>(std::move(backends), std::move(options))) {}
Scheduler::~Scheduler() = default;

Status Scheduler::reserve(const Graph& graph) { return state_->reserve(graph); }
Result<std::vector<Bytes>> Scheduler::reserve_sizes(const Graph& graph) { return state_->reserve_sizes(graph); }
Status Scheduler::allocate(const Graph& graph, std::span<const BoundTensor> bound) {
  return state_->allocate(graph, bound);
}
Status Scheduler::begin() { return state_->begin(); }
Status Scheduler::run(const std::function<Status(std::size_t)>& work) { return state_->run(work); }
Status Scheduler::synchronize() { return state_->synchronize(); }

std::byte* Scheduler::address(TensorId tensor) const { return state_->address(tensor); }
std::byte* Scheduler::workspace(OpId op, std::size_t index) const {
  return state_->allocation().workspace(op, index).data();
}
const Partition& Scheduler::partition() const { return state_->job().partition; }
const Plan& Scheduler::plan() const { return state_->allocation().plan; }
Result<Graph> Scheduler::served_graph() const { return state_->allocator().as_served(partition().graph); }
std::size_t Scheduler::input_set() const { return state_->input_set(); }
Bytes Scheduler::buffer_size(std::size_t backend) const { return state_->allocator().buffer_size(backend); }
Bytes Scheduler::staging_size() const { return state_->staging_size(); }
const SchedulerCounters& Scheduler::counters() const { return state_->counters(); }

}  // namespace stowage
