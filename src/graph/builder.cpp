#include <utility>

#include "stowage/graph.hpp"

namespace stowage {

MemoryId GraphBuilder::add(Memory memory) {
  description_.memories.push_back(std::move(memory));
  return MemoryId(description_.memories.size() - 1);
}

TensorId GraphBuilder::add(Tensor tensor) {
  description_.tensors.push_back(std::move(tensor));
  return TensorId(description_.tensors.size() - 1);
}

OpId GraphBuilder::add(Op op) {
  description_.ops.push_back(std::move(op));
  return OpId(description_.ops.size() - 1);
}

RingId GraphBuilder::add(Ring ring) {
  description_.rings.push_back(std::move(ring));
  return RingId(description_.rings.size() - 1);
}

void GraphBuilder::add(ApartTensors pair) { description_.apart.push_back(pair); }

Result<Graph> GraphBuilder::build() { return Graph::build(std::exchange(description_, {})); }

}  // namespace stowage
