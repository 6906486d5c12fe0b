#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "stowage/graph.hpp"

/// For tests: small graphs with everything in them that the rules speak of.
namespace stowage::oracle {

class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed) : random_(seed) {}

  /// Nothing when what came out is no valid graph.
  std::optional<Graph> make() {
    add_memories();
    streams_ = below(2) == 0 ? 1 : 1 + below(4);
    for (std::size_t i = 0, count = 1 + below(3); i < count; ++i) add_source();
    for (std::size_t k = 0, count = 2 + below(9); k < count; ++k) add_op();
    Result<Graph> graph = Graph::build(description_);
    if (!graph) return std::nullopt;
    return std::move(graph).value();
  }

 private:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  bool chance(std::size_t percent) { return below(100) < percent; }

  void add_memories() {
    for (std::size_t i = 0, count = chance(80) ? 1 : 2; i < count; ++i) {
      Memory memory{.name = "m" + std::to_string(i), .alignment = Bytes(std::int64_t{1} << below(4))};
      if (chance(20)) memory.max_size = Bytes(static_cast<std::int64_t>(40 + below(60)));
      description_.memories.push_back(memory);
    }
  }

  Bytes some_size() { return Bytes(chance(8) ? 0 : static_cast<std::int64_t>(8 * (1 + below(6)))); }

  TensorId add_tensor(Tensor tensor) {
    tensor.name = "t" + std::to_string(description_.tensors.size());
    if (chance(10)) tensor.flags |= TensorFlag::output;
    if (chance(4)) tensor.flags |= TensorFlag::no_reuse;
    if (chance(4)) tensor.flags |= TensorFlag::input;
    if (chance(1)) tensor.flags |= TensorFlag::external;
    description_.tensors.push_back(std::move(tensor));
    return TensorId(description_.tensors.size() - 1);
  }

  TensorId add_plain() {
    Tensor tensor{.name = {}, .size = some_size(), .memory = MemoryId(below(description_.memories.size()))};
    if (chance(15)) tensor.alignment = Bytes(std::int64_t{1} << below(5));
    return add_tensor(tensor);
  }

  TensorId add_view(TensorId base) {
    const Tensor of = description_.tensors[base.index()];
    const auto limit = static_cast<std::size_t>(of.size.value());
    const std::size_t offset = limit == 0 ? 0 : 8 * below(limit / 8 + 1);
    const std::size_t rest = limit - offset;
    const std::size_t size = chance(30) || rest == 0 ? rest : 8 * below(rest / 8 + 1);
    return add_tensor({.name = {},
                       .size = Bytes(static_cast<std::int64_t>(size)),
                       .memory = of.memory,
                       .view_of = ViewOf{base, Bytes(static_cast<std::int64_t>(offset))}});
  }

  /// Something that is there before the first op.
  void add_source() {
    const TensorId id = add_plain();
    const std::size_t kind = below(10);
    const TensorFlag flag = kind < 6   ? TensorFlag::input
                            : kind < 8 ? TensorFlag::constant
                            : kind < 9 ? TensorFlag::variable
                                       : TensorFlag::external;
    description_.tensors[id.index()].flags |= flag;
    readable_.push_back(id);
  }

  /// An output that is new, a view of something new, or a further part of something begun earlier.
  TensorId add_output() {
    if (!open_.empty() && chance(30)) return add_view(open_[below(open_.size())]);
    const TensorId id = add_plain();
    if (!chance(25)) return id;
    open_.push_back(id);
    return add_view(id);
  }

  void add_op() {
    const std::size_t k = description_.ops.size();
    Op op{.name = "op" + std::to_string(k), .kind = "TEST"};
    op.stream = StreamId(below(streams_));
    op.no_task = chance(12);
    op.no_reuse = chance(3);
    for (std::size_t i = 0, count = below(4); i < count; ++i)
      op.inputs.emplace_back(readable_[readable_.size() - 1 - below(std::min<std::size_t>(readable_.size(), 5))]);
    if (chance(5)) op.inputs.emplace_back(std::nullopt);
    for (std::size_t i = 0, count = chance(70) ? 1 : below(3); i < count; ++i) op.outputs.push_back(add_output());
    if (op.no_task && !op.inputs.empty() && op.inputs[0] && chance(60)) op.outputs.push_back(add_view(*op.inputs[0]));
    add_links(op);
    for (std::size_t i = 0, count = chance(75) ? 0 : 1 + below(2); i < count; ++i) {
      op.workspaces.push_back({some_size(), MemoryId(below(description_.memories.size())), std::nullopt, chance(10)});
    }
    for (std::size_t j = 0; j < k; ++j) {
      if (chance(12)) op.after.emplace_back(j);
    }
    for (const TensorId output : op.outputs) readable_.push_back(output);
    description_.ops.push_back(std::move(op));
  }

  void add_links(Op& op) {
    for (std::uint32_t out = 0; out < op.outputs.size(); ++out) {
      for (std::uint32_t in = 0; in < op.inputs.size(); ++in) {
        if (!op.inputs[in]) continue;
        if (chance(60)) op.in_place.push_back({out, in});
        const bool one_memory =
            description_.tensors[op.outputs[out].index()].memory == description_.tensors[op.inputs[in]->index()].memory;
        if (one_memory && chance(op.no_task ? 30 : 6))
          op.aliases.push_back({out, in, Bytes(static_cast<std::int64_t>(8 * below(3)))});
      }
    }
  }

  std::mt19937_64 random_;
  GraphDescription description_{.name = "random", .memories = {}, .tensors = {}, .ops = {}};
  std::size_t streams_ = 1;
  std::vector<TensorId> readable_;
  std::vector<TensorId> open_;  ///< Written part by part.
};

}  // namespace stowage::oracle
