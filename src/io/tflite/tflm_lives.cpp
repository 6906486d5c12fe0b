#include "io/tflite/tflm_lives.hpp"

#include <optional>
#include <utility>

namespace stowage::io::tflite {
namespace {

class Marker {
 public:
  explicit Marker(const ModelInfo& model) : model_(model) {
    for (const SubgraphInfo& subgraph : model.subgraphs) {
      lives_.tensors.emplace_back(subgraph.tensors.size());
      lives_.operators.emplace_back(subgraph.operators.size());
    }
  }

  TflmLives run() {
    mark(0);
    return std::move(lives_);
  }

 private:
  void begin(TflmLife& life) const {
    if (life.first < 0) life.first = step_;
  }
  void use(TflmLife& life) const { life.last = step_; }

  void mark(std::uint32_t number) {  // NOLINT(misc-no-recursion): as deep as subgraphs are nested
    const SubgraphInfo& subgraph = model_.subgraphs[number];
    std::vector<TflmLife>& tensors = lives_.tensors[number];
    for (const std::uint32_t input : subgraph.inputs) {
      begin(tensors[input]);
      use(tensors[input]);
    }
    for (std::size_t k = 0; k < subgraph.operators.size(); ++k) mark_operator(number, k);
    for (const std::uint32_t output : subgraph.outputs) {
      begin(tensors[output]);
      use(tensors[output]);
    }
  }

  void mark_operator(std::uint32_t number, std::size_t k) {  // NOLINT(misc-no-recursion)
    ++step_;
    const OperatorInfo& op = model_.subgraphs[number].operators[k];
    std::vector<TflmLife>& tensors = lives_.tensors[number];
    for (const std::uint32_t output : op.outputs) begin(tensors[output]);
    begin(lives_.operators[number][k]);
    for (const std::uint32_t subgraph : op.subgraphs) {
      ++step_;
      mark(subgraph);
    }
    for (const std::optional<std::uint32_t>& input : op.inputs) {
      if (input) use(tensors[*input]);
    }
    for (const std::uint32_t output : op.outputs) use(tensors[output]);
    use(lives_.operators[number][k]);
  }

  const ModelInfo& model_;
  TflmLives lives_;
  std::int64_t step_ = 0;
};

}  // namespace

TflmLives tflm_lives(const ModelInfo& model) { return Marker(model).run(); }

}  // namespace stowage::io::tflite
