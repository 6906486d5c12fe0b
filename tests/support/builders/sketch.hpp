#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stowage/graph.hpp"

namespace stowage::testing {

/// Builds small graphs concisely. The alignment is 1, so that sizes are not rounded.
class Sketch {
 public:
  TensorId tensor(std::string name, std::int64_t size, TensorFlags flags = {}) {
    return builder_.add(Tensor{.name = std::move(name), .size = Bytes(size), .flags = flags});
  }
  TensorId tensor(Tensor tensor) { return builder_.add(std::move(tensor)); }
  TensorId view(std::string name, std::int64_t size, TensorId base, std::int64_t offset) {
    return builder_.add(Tensor{.name = std::move(name), .size = Bytes(size), .view_of = ViewOf{base, Bytes(offset)}});
  }
  OpId op(Op op) { return builder_.add(std::move(op)); }
  OpId op(std::vector<TensorId> inputs, std::vector<TensorId> outputs, std::vector<InPlacePair> pairs = {}) {
    return add({}, std::move(inputs), std::move(outputs), std::move(pairs));
  }
  OpId on(std::size_t stream, std::vector<TensorId> inputs, std::vector<TensorId> outputs,
          std::vector<OpId> after = {}) {
    const Op base{.name = {}, .kind = "X", .stream = StreamId(stream), .after = std::move(after)};
    return add(base, std::move(inputs), std::move(outputs), {});
  }
  Graph build() {
    Result<Graph> graph = builder_.build();
    STOWAGE_CHECK(graph.has_value(), graph.error().message.c_str());
    return std::move(graph).value();
  }

 private:
  OpId add(Op op, std::vector<TensorId> inputs, std::vector<TensorId> outputs, std::vector<InPlacePair> pairs) {
    op.kind = "X";
    op.inputs.assign(inputs.begin(), inputs.end());
    op.outputs = std::move(outputs);
    op.in_place = std::move(pairs);
    return builder_.add(std::move(op));
  }

  GraphBuilder builder_{"sketch"};
};

}  // namespace stowage::testing
