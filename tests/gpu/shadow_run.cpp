#include "gpu/shadow_run.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "gpu/shadow_kernels.hpp"
#include "support/judges/shadow/families.hpp"
#include "support/judges/shadow/memory.hpp"
#include "support/judges/shadow/schedule.hpp"

namespace stowage::testing {

Result<std::unique_ptr<GpuShadow>> GpuShadow::make(CudaDevice& device) {
  std::unique_ptr<GpuShadow> shadow(new GpuShadow(device));
  STOWAGE_TRY(shadow->module_, computing(device).load(kShadowPtx));
  return shadow;
}

class GpuShadow::Run {
 public:
  Run(GpuShadow& shadow, const Graph& graph, const GpuAddresses& addresses, std::uint64_t seed)
      : shadow_(shadow),
        device_(shadow.device_),
        graph_(graph),
        addresses_(addresses),
        families_(find_families(graph, Bytes(1))),
        waits_(predecessors(graph)),
        written_(families_.families.size()),
        random_(seed) {}

  Result<std::vector<std::uint64_t>> run() {
    STOWAGE_TRY(hash_, shadow_.module_->kernel("hash_bytes"));
    STOWAGE_TRY(write_, shadow_.module_->kernel("write_bytes"));
    STOWAGE_TRY(wait_, shadow_.module_->kernel("wait"));
    STOWAGE_TRY_STATUS(make_slots());
    STOWAGE_TRY_STATUS(write_what_is_there());
    for (std::size_t op = 0; op < graph_.ops().size(); ++op) {
      if (!graph_.ops()[op].no_task) STOWAGE_TRY_STATUS(step(op));
    }
    for (std::size_t stream = 0; stream < graph_.stream_count(); ++stream) {
      STOWAGE_TRY_STATUS(device_.synchronize(StreamId(stream)));
    }
    STOWAGE_TRY_STATUS(hash_outputs());
    for (const std::optional<EventId>& event : finished_) {
      if (event) device_.forget(*event);
    }
    std::vector<std::uint64_t> numbers(last_slot() + 1);
    STOWAGE_TRY_STATUS(slots_->read(Bytes(0), std::as_writable_bytes(std::span(numbers))));
    return numbers;
  }

 private:
  Status make_slots() {
    std::vector<std::uint64_t> numbers(graph_.ops().size() + graph_.tensors().size() + 1);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i * 0x9e3779b97f4a7c15ULL;
    STOWAGE_TRY(slots_, device_.buffer_type().allocate(Bytes(static_cast<std::int64_t>(8 * numbers.size()))));
    finished_.resize(graph_.ops().size());
    return slots_->write(Bytes(0), std::as_bytes(std::span(numbers)));
  }

  /// Variables and inputs have content before the run.
  Status write_what_is_there() {
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const TensorFlags flags = families_.families[families_.seats[t].family].flags;
      const bool stays = !graph_.tensors()[t].view_of && flags.has(TensorFlag::variable);
      if (stays || graph_.tensors()[t].flags.has(TensorFlag::input))
        STOWAGE_TRY_STATUS(write(TensorId(t), last_slot(), StreamId(0)));
    }
    return device_.synchronize(StreamId(0));
  }

  Status step(std::size_t k) {
    const Op& op = graph_.ops()[k];
    for (const std::size_t before : waits_[k]) {
      if (graph_.ops()[before].stream != op.stream) STOWAGE_TRY_STATUS(device_.wait(op.stream, *finished_[before]));
    }
    if (graph_.stream_count() > 1 && random_() % 8 == 0) STOWAGE_TRY_STATUS(dawdle(op.stream));
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i]) STOWAGE_TRY_STATUS(hash(*op.inputs[i], k, {op.stream, i}));
    }
    for (std::size_t w = 0; w < op.workspaces.size(); ++w) {
      const Work work{addresses_.workspaces[k][w], op.workspaces[w].size, k, 0x1000 + w};
      STOWAGE_TRY_STATUS(launch(write_, work, op.stream));
    }
    for (const TensorId output : op.outputs) STOWAGE_TRY_STATUS(write(output, k, op.stream));
    if (graph_.stream_count() > 1) {
      STOWAGE_TRY(finished_[k], device_.record(op.stream));
    }
    return Done{};
  }

  Status hash_outputs() {
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      if (graph_.tensors()[t].flags.has(TensorFlag::output))
        STOWAGE_TRY_STATUS(hash(TensorId(t), graph_.ops().size() + t, {StreamId(0), 0}));
    }
    return device_.synchronize(StreamId(0));
  }

  struct Work {
    std::byte* bytes = nullptr;
    Bytes size;
    std::size_t slot = 0;
    std::uint64_t salt = 0;
  };

  struct Reading {
    StreamId stream;
    std::uint64_t salt = 0;
  };
  Status hash(TensorId tensor, std::size_t slot, const Reading& reading) {
    std::byte* const bytes = addresses_.tensors[tensor.index()];
    const Seat& seat = families_.seats[tensor.index()];
    if (bytes == nullptr) return Done{};
    for (const WrittenCells::Cells& part : written_[seat.family].within(seat.first, seat.count)) {
      const Work work{bytes + part.first, Bytes(static_cast<std::int64_t>(part.last - part.first)), slot, reading.salt};
      STOWAGE_TRY_STATUS(launch(hash_, work, reading.stream));
    }
    return Done{};
  }

  Status write(TensorId tensor, std::size_t slot, StreamId stream) {
    std::byte* const bytes = addresses_.tensors[tensor.index()];
    const Seat& seat = families_.seats[tensor.index()];
    if (bytes == nullptr) return Done{};
    written_[seat.family].add(seat.first, seat.count);
    return launch(write_, {bytes, graph_.tensor(tensor).size, slot, tensor.index()}, stream);
  }

  Status launch(const std::optional<CudaKernel>& kernel, Work work, StreamId stream) {
    if (work.size == Bytes(0)) return Done{};
    std::byte* slot = slots_->base() + 8 * work.slot;
    std::int64_t size = work.size.value();
    const std::array<void*, 4> arguments{&work.bytes, &size, &slot, &work.salt};
    const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(size / (256 * 16), 1, 1056));
    shadow_.kernels_ += 1;
    shadow_.bytes_ += work.size;
    return computing(device_).launch(stream, *kernel, {.blocks = {blocks, 1, 1}, .threads = {256, 1, 1}}, arguments);
  }

  Status dawdle(StreamId stream) {
    std::uint64_t ticks = random_() % 100000;
    const std::array<void*, 1> arguments{&ticks};
    return computing(device_).launch(stream, *wait_, {}, arguments);
  }

  [[nodiscard]] std::size_t last_slot() const { return graph_.ops().size() + graph_.tensors().size(); }

  GpuShadow& shadow_;
  CudaDevice& device_;
  const Graph& graph_;
  const GpuAddresses& addresses_;
  const Families families_;
  const std::vector<std::vector<std::size_t>> waits_;
  std::vector<WrittenCells> written_;  ///< By family.
  std::mt19937_64 random_;

  std::optional<CudaKernel> hash_;
  std::optional<CudaKernel> write_;
  std::optional<CudaKernel> wait_;
  std::unique_ptr<Buffer> slots_;
  std::vector<std::optional<EventId>> finished_;  ///< By op; on several streams.
};

Result<std::vector<std::uint64_t>> GpuShadow::run(const Graph& graph, const GpuAddresses& addresses,
                                                  std::uint64_t seed) {
  return Run(*this, graph, addresses, seed).run();
}

}  // namespace stowage::testing
