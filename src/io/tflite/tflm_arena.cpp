#include "io/tflite/tflm_arena.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "io/tflite/build.hpp"
#include "io/tflite/metadata.hpp"
#include "io/tflite/plan.hpp"
#include "io/tflite/tflm_kernels.hpp"
#include "io/tflite/tflm_lives.hpp"
#include "io/tflite/tflm_planner.hpp"

/// Follows what TFLM does with its arena from the beginning to the first run, with the sizes of its structures on
/// x86-64 in the build of PyPI's `tflite-micro`, which records allocations and reads compressed models; other builds
/// have smaller structures. On a 32-bit target no structure is larger or needs a larger alignment, hence the tail is
/// not larger either: it grows by each structure, rounded up to a multiple of its alignment, and that is monotone.
/// Tensors and scratch buffers have the same sizes there.
namespace stowage::io::tflite {
namespace {

constexpr std::int64_t kBufferAlignment = 16;
constexpr std::size_t kMaxBuffers = 20000;  // TFLM's planner takes the square of that

namespace size {
constexpr std::int64_t kRecordingBufferAllocator = 104;
constexpr std::int64_t kGreedyPlanner = 72;
constexpr std::int64_t kRecordingAllocator = 272;
constexpr std::int64_t kDataAllocator = 16;
constexpr std::int64_t kSubgraph = 24;
constexpr std::int64_t kEvalTensor = 24;
constexpr std::int64_t kNode = 64;
constexpr std::int64_t kTensor = 64;
constexpr std::int64_t kQuantization = 24;
constexpr std::int64_t kPointer = 8;
constexpr std::int64_t kScratchRequest = 16;
constexpr std::int64_t kAllocationInfo = 32;
constexpr std::int64_t kPlannerBuffer = 40;
constexpr std::int64_t kNumber = 4;
}  // namespace size
constexpr std::int64_t kRequestsPerOperator = 12;

constexpr std::int64_t round_up(std::int64_t value, std::int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// The arena: what is taken at both ends, and the most that was at any time.
class Ends {
 public:
  void keep(std::int64_t bytes, std::int64_t alignment = kBufferAlignment) {
    tail_ = round_up(tail_ + bytes, alignment);
    note();
  }
  void set_head(std::int64_t bytes) {
    head_ = bytes;
    note();
  }
  /// Bytes behind the head, for a moment.
  void need(std::int64_t bytes) { most_ = std::max(most_, head_ + tail_ + bytes); }

  [[nodiscard]] std::int64_t head() const { return head_; }
  [[nodiscard]] std::int64_t tail() const { return tail_; }
  [[nodiscard]] std::int64_t most() const { return round_up(most_, kBufferAlignment); }

 private:
  void note() { need(0); }

  std::int64_t head_ = 0;
  std::int64_t tail_ = 0;
  std::int64_t most_ = 0;
};

/// A scratch buffer.
struct Request {
  std::int64_t size;
  std::size_t subgraph;
  std::size_t op;
};

class Interpreter {
 public:
  Interpreter(const File& file, const ModelInfo& model, const Offsets* offsets)
      : file_(file), model_(model), offsets_(offsets) {}

  Result<TflmNeed> run() {
    STOWAGE_TRY_STATUS(find_kernels());
    STOWAGE_TRY_STATUS(check_tensors());
    start();
    initialise();
    prepare();
    STOWAGE_TRY_STATUS(plan());
    give_out(model_.subgraphs[0].inputs);
    give_out(model_.subgraphs[0].outputs);
    return TflmNeed{.head = Bytes(ends_.head()), .tail = Bytes(ends_.tail()), .arena = Bytes(ends_.most())};
  }

 private:
  [[nodiscard]] Error unknown(const std::string& what) const {
    return file_.fault(ErrorCode::unsupported, {}, "what TFLM needs of its arena is not known: " + what);
  }

  Status find_kernels() {
    for (const SubgraphInfo& subgraph : model_.subgraphs) {
      std::vector<KernelMemory>& kernels = kernels_.emplace_back();
      for (const OperatorInfo& op : subgraph.operators) {
        std::optional<KernelMemory> memory = kernel_memory(subgraph, op);
        if (!memory) return unknown(fmt::format("what its kernel for {} takes", op.kind));
        kernels.push_back(std::move(*memory));
      }
    }
    return Done{};
  }

  Status check_tensors() const {
    for (const SubgraphInfo& subgraph : model_.subgraphs) {
      for (const TensorInfo& tensor : subgraph.tensors) {
        if (!tensor.tflm_size || *tensor.tflm_size > Bytes(std::int64_t{1} << 31))
          return unknown(fmt::format("it has no tensors like '{}'", tensor.name));
        if (tensor.stored_apart) return unknown(fmt::format("it does not find the data of '{}'", tensor.name));
      }
    }
    return Done{};
  }

  void start() {
    ends_.keep(size::kRecordingBufferAllocator, size::kPointer);
    ends_.keep(size::kGreedyPlanner, size::kPointer);
    ends_.keep(size::kRecordingAllocator, size::kPointer);
    ends_.keep(size::kDataAllocator, size::kPointer);
    ends_.set_head(kRequestsPerOperator * size::kScratchRequest);
    ends_.keep(size::kSubgraph * static_cast<std::int64_t>(model_.subgraphs.size()), size::kPointer);
    for (const SubgraphInfo& subgraph : model_.subgraphs)
      ends_.keep(size::kEvalTensor * static_cast<std::int64_t>(subgraph.tensors.size()), size::kPointer);
    for (const SubgraphInfo& subgraph : model_.subgraphs)
      ends_.keep(size::kNode * static_cast<std::int64_t>(subgraph.operators.size()), size::kPointer);
  }

  void initialise() {
    for (const std::vector<KernelMemory>& kernels : kernels_) {
      for (const KernelMemory& kernel : kernels) {
        if (kernel.options > 0) ends_.keep(kernel.options, kernel.options_alignment);
      }
    }
    for (const std::vector<KernelMemory>& kernels : kernels_) {
      for (const KernelMemory& kernel : kernels) {
        for (const std::int64_t bytes : kernel.init) ends_.keep(bytes);
      }
    }
  }

  void prepare() {
    for (std::size_t s = 0; s < kernels_.size(); ++s) {
      for (std::size_t k = 0; k < kernels_[s].size(); ++k) {
        const KernelMemory& kernel = kernels_[s][k];
        for (const std::int64_t bytes : kernel.prepare) ends_.keep(bytes);
        ends_.need(kernel.descriptions * descriptions(s, k));
        for (const std::int64_t bytes : kernel.scratch) requests_.push_back({bytes, s, k});
        ends_.set_head(size::kScratchRequest * (kRequestsPerOperator + static_cast<std::int64_t>(requests_.size())));
      }
    }
    if (!requests_.empty()) ends_.keep(size::kPointer * static_cast<std::int64_t>(requests_.size()), size::kPointer);
  }

  /// The bytes of a description of each tensor of an operator.
  [[nodiscard]] std::int64_t descriptions(std::size_t subgraph, std::size_t op) const {
    const OperatorInfo& from = model_.subgraphs[subgraph].operators[op];
    std::int64_t bytes = 0;
    const auto add = [&](std::uint32_t number) {
      const TensorInfo& tensor = model_.subgraphs[subgraph].tensors[number];
      bytes += size::kTensor;
      if (tensor.channels > 0) bytes += size::kQuantization + round_up(zero_points(tensor), size::kPointer);
    };
    for (const std::optional<std::uint32_t>& input : from.inputs) {
      if (input) add(*input);
    }
    for (const std::uint32_t output : from.outputs) add(output);
    return bytes;
  }
  [[nodiscard]] static std::int64_t zero_points(const TensorInfo& tensor) {
    return size::kNumber * (1 + static_cast<std::int64_t>(tensor.channels));
  }

  /// The offset that a plan has for a tensor.
  [[nodiscard]] std::optional<std::int64_t> offset(std::size_t subgraph, std::size_t tensor) const {
    if (!offsets_ || (*offsets_)[subgraph][tensor] == kNoOffset) return std::nullopt;
    return (*offsets_)[subgraph][tensor];
  }

  Status plan() {
    const std::vector<TflmBuffer> buffers = buffers_to_place();
    if (buffers.size() > kMaxBuffers) return unknown(fmt::format("it would have {} buffers", buffers.size()));
    std::size_t entries = requests_.size();
    for (const SubgraphInfo& subgraph : model_.subgraphs) entries += subgraph.tensors.size();
    ends_.set_head(round_up(ends_.head(), size::kPointer) +
                   size::kPointer * static_cast<std::int64_t>(model_.subgraphs.size()) +
                   size::kAllocationInfo * static_cast<std::int64_t>(entries));
    keep_variables();
    ends_.set_head(round_up(ends_.head(), kBufferAlignment) +
                   size::kPlannerBuffer * static_cast<std::int64_t>(buffers.size()));
    ends_.need(round_up(ends_.tail(), kBufferAlignment) - ends_.tail());
    ends_.set_head(tflm_head(buffers));
    return Done{};
  }

  [[nodiscard]] std::vector<TflmBuffer> buffers_to_place() const {
    const TflmLives lives = tflm_lives(model_);
    std::vector<TflmBuffer> buffers;
    const auto add = [&](std::int64_t bytes, TflmLife life, std::optional<std::int64_t> offset) {
      buffers.push_back(
          {.size = round_up(bytes, kBufferAlignment), .first = life.first, .last = life.last, .offset = offset});
    };
    for (std::size_t s = 0; s < model_.subgraphs.size(); ++s) {
      for (std::size_t t = 0; t < model_.subgraphs[s].tensors.size(); ++t) {
        const TensorInfo& tensor = model_.subgraphs[s].tensors[t];
        const bool placed = tensor.holding == Holding::computed && *tensor.tflm_size > Bytes(0);
        if (placed || (tensor.holding == Holding::variable && offset(s, t)))
          add(tensor.tflm_size->value(), lives.tensors[s][t], offset(s, t));
      }
    }
    for (const Request& request : requests_) add(request.size, lives.operators[request.subgraph][request.op], {});
    return buffers;
  }

  /// TFLM looks for a variable's offset among those of the first subgraph.
  void keep_variables() {
    for (const SubgraphInfo& subgraph : model_.subgraphs) {
      for (std::size_t t = 0; t < subgraph.tensors.size(); ++t) {
        const bool has_offset = t < model_.subgraphs[0].tensors.size() && offset(0, t);
        if (subgraph.tensors[t].holding == Holding::variable && !has_offset)
          ends_.keep(subgraph.tensors[t].tflm_size->value());
      }
    }
  }

  /// Describes what a program gives and takes.
  void give_out(const std::vector<std::uint32_t>& tensors) {
    ends_.keep(size::kPointer * static_cast<std::int64_t>(tensors.size()));
    for (const std::uint32_t number : tensors) {
      const TensorInfo& tensor = model_.subgraphs[0].tensors[number];
      ends_.keep(size::kTensor, size::kPointer);
      if (tensor.channels == 0) continue;
      ends_.keep(size::kQuantization, size::kPointer);
      ends_.keep(zero_points(tensor), size::kNumber);
    }
  }

  const File& file_;
  const ModelInfo& model_;
  const Offsets* offsets_;
  std::vector<std::vector<KernelMemory>> kernels_;  ///< By subgraph and operator.
  std::vector<Request> requests_;
  Ends ends_;
};

}  // namespace

Result<TflmNeed> tflm_need(const File& file, const ModelInfo& model, const Offsets* offsets) {
  return Interpreter(file, model, offsets).run();
}

}  // namespace stowage::io::tflite

namespace stowage::io {

Result<TflmNeed> tflm_need(const ModelFile& model, const Plan* plan, const ImportOptions& options) {
  using namespace tflite;
  STOWAGE_TRY(const File opened, File::open(model.bytes, model.name));
  STOWAGE_TRY(const ModelInfo info, read_model(opened));
  STOWAGE_TRY(const ImportedModel imported, import_model(opened, info, {.options = options}));
  if (!plan) return tflite::tflm_need(opened, info, nullptr);
  STOWAGE_TRY(const Graph graph, build_graph(opened, imported.description));
  STOWAGE_TRY(const OfflinePlan offline, offsets_of(opened, info, imported, graph, *plan));
  return tflite::tflm_need(opened, info, &offline.offsets);
}

}  // namespace stowage::io
