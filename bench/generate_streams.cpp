#include "generate_streams.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace stowage::bench {
namespace {

/// A builder for ops on many streams, with random sizes.
class Loom {
 public:
  Loom(std::string name, std::size_t streams) : builder_(std::move(name)), streams_(streams) {
    builder_.add(Memory{.name = "device", .alignment = Bytes(512)});
  }

  [[nodiscard]] std::size_t ops() const { return ops_; }
  [[nodiscard]] std::size_t streams() const { return streams_; }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  /// Multiples of 1 KiB, small ones more often.
  std::int64_t size() { return static_cast<std::int64_t>((1 + below(64)) << below(5)) * 1024; }

  TensorId input(std::int64_t size) {
    return builder_.add(
        Tensor{.name = fmt::format("x{}", tensors_++), .size = Bytes(size), .flags = TensorFlag::input});
  }
  TensorId op(std::size_t stream, std::vector<TensorId> inputs, std::int64_t size) {
    const TensorId out = builder_.add(Tensor{.name = fmt::format("t{}", tensors_++), .size = Bytes(size)});
    Op op{.name = fmt::format("op{}", ops_++), .kind = "OP", .outputs = {out}, .stream = StreamId(stream)};
    op.inputs.assign(inputs.begin(), inputs.end());
    builder_.add(std::move(op));
    return out;
  }

  Graph build() {
    Result<Graph> graph = builder_.build();
    STOWAGE_CHECK(graph.has_value(), "a generated graph must be valid");
    return std::move(graph).value();
  }

 private:
  GraphBuilder builder_;
  std::size_t streams_;
  std::size_t ops_ = 0;
  std::size_t tensors_ = 0;
  std::mt19937_64 random_{7};
};

/// Micro-batches on their way through the stages. In each tick a stage passes one forward and one back.
class Pipeline {
 public:
  static constexpr std::size_t kOps = 3;  ///< Per stage and direction.

  Pipeline(Loom& loom, std::size_t batches) : loom_(loom), batches_(batches), kept_(loom.streams()) {
    for (std::size_t s = 0; s < loom.streams(); ++s) sizes_.push_back(loom.size());
    for (std::size_t b = 0; b < batches; ++b) forward_.push_back(loom.input(sizes_.front()));
    back_.resize(batches);
    for (std::vector<TensorId>& stage : kept_) stage.resize(batches);
  }

  void run() {
    const std::size_t stages = loom_.streams();
    for (std::size_t tick = 0; tick < batches_ + 2 * stages; ++tick) {
      for (std::size_t s = 0; s < stages; ++s) {
        if (tick >= s && tick - s < batches_) send_forward(s, tick - s);
        const std::size_t wait = 2 * stages - 1 - s;
        if (tick >= wait && tick - wait < batches_) send_back(s, tick - wait);
      }
    }
  }

 private:
  void send_forward(std::size_t stage, std::size_t batch) {
    TensorId at = loom_.op(stage, {forward_[batch]}, sizes_[stage]);
    kept_[stage][batch] = at;
    for (std::size_t k = 1; k < kOps; ++k) at = loom_.op(stage, {at}, 2 * sizes_[stage]);
    forward_[batch] = back_[batch] = at;
  }

  void send_back(std::size_t stage, std::size_t batch) {
    TensorId at = loom_.op(stage, {back_[batch], kept_[stage][batch]}, sizes_[stage]);
    for (std::size_t k = 1; k < kOps; ++k) at = loom_.op(stage, {at}, sizes_[stage]);
    back_[batch] = at;
  }

  Loom& loom_;
  std::size_t batches_;
  std::vector<std::int64_t> sizes_;          ///< Per stage.
  std::vector<TensorId> forward_;            ///< Per batch: what the next stage reads.
  std::vector<TensorId> back_;               ///< Per batch: what the previous stage will read.
  std::vector<std::vector<TensorId>> kept_;  ///< Per stage and batch.
};

}  // namespace

Graph make_pipeline(std::size_t ops, std::size_t streams) {
  Loom loom("pipeline", streams);
  Pipeline(loom, std::max<std::size_t>(1, ops / (2 * Pipeline::kOps * streams))).run();
  return loom.build();
}

Graph make_weave(std::size_t ops, std::size_t streams) {
  constexpr std::size_t kLately = 4;
  Loom loom("weave", streams);
  std::vector<std::vector<TensorId>> written(streams);
  for (std::size_t s = 0; s < streams; ++s) written[s].push_back(loom.input(loom.size()));
  while (loom.ops() < ops) {
    const std::size_t stream = loom.below(streams);
    std::vector<TensorId>& own = written[stream];
    std::vector<TensorId> inputs = {own.back()};
    if (loom.below(6) == 0) {
      const std::vector<TensorId>& other = written[loom.below(streams)];
      inputs.push_back(other[other.size() - 1 - loom.below(std::min(kLately, other.size()))]);
    }
    if (loom.below(20) == 0) inputs.push_back(own[own.size() - 1 - loom.below(std::min<std::size_t>(30, own.size()))]);
    own.push_back(loom.op(stream, std::move(inputs), loom.size()));
  }
  return loom.build();
}

Graph make_strands(std::size_t ops, std::size_t streams) {
  Loom loom("strands", streams);
  std::vector<TensorId> last;
  for (std::size_t s = 0; s < streams; ++s) last.push_back(loom.input(loom.size()));
  while (loom.ops() < ops) {
    const std::size_t stream = loom.ops() % streams;
    last[stream] = loom.op(stream, {last[stream]}, loom.size());
  }
  return loom.build();
}

}  // namespace stowage::bench
