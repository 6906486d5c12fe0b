#pragma once

#include <cstdint>
#include <string>

#include "stowage/alloc/graph_allocator.hpp"
#include "support/builders/sketch.hpp"

namespace stowage::testing {

/// Same input, same plan: no clock.
inline GraphAllocatorOptions steady() { return {.plan = {.time_limit = {}, .node_budget = 2'000}}; }

/// x → a → b → y, `size` bytes each; nothing in place: two live at a time.
inline Graph chain(std::int64_t size) {
  Sketch s;
  const TensorId x = s.tensor("x", size, TensorFlag::input);
  const TensorId a = s.tensor("a", size);
  const TensorId b = s.tensor("b", size);
  const TensorId y = s.tensor("y", size, TensorFlag::output);
  s.op({x}, {a});
  s.op({a}, {b});
  s.op({b}, {y});
  return s.build();
}

/// Layers of an inference runtime over `batch` tokens: projections, a view of the last token, element-wise ops in
/// place, a workspace, a cache that is not ours. One memory of alignment 32.
inline Graph layers(int count, std::int64_t batch) {
  GraphBuilder builder("layers");
  builder.add(Memory{.name = "device", .alignment = Bytes(32)});
  const Bytes wide(batch * 256);
  const TensorId cache = builder.add(Tensor{.name = "cache", .size = Bytes(1 << 20), .flags = TensorFlag::variable});
  TensorId x = builder.add(Tensor{.name = "x", .size = wide, .flags = TensorFlag::input});
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    const TensorId q = builder.add(Tensor{.name = "q" + n, .size = wide});
    const TensorId scores = builder.add(Tensor{.name = "scores" + n, .size = Bytes(batch * 512)});
    const TensorId soft = builder.add(Tensor{.name = "soft" + n, .size = Bytes(batch * 512)});
    const TensorId mixed = builder.add(Tensor{.name = "mixed" + n, .size = wide});
    const TensorId sum = builder.add(Tensor{.name = "sum" + n, .size = wide});
    const TensorId row =
        builder.add(Tensor{.name = "row" + n, .size = Bytes(256), .view_of = ViewOf{cache, Bytes(batch * 256)}});
    builder.add(Op{.name = "q" + n, .kind = "MUL_MAT", .inputs = {x}, .outputs = {q}});
    builder.add(Op{.name = "store" + n, .kind = "CPY", .inputs = {q}, .outputs = {row}});
    builder.add(Op{.name = "scores" + n, .kind = "MUL_MAT", .inputs = {q, cache}, .outputs = {scores}});
    builder.add(
        Op{.name = "soft" + n, .kind = "SOFT_MAX", .inputs = {scores}, .outputs = {soft}, .in_place = {{0, 0}}});
    builder.add(Op{.name = "mixed" + n,
                   .kind = "MUL_MAT",
                   .inputs = {soft, cache},
                   .outputs = {mixed},
                   .workspaces = {{.size = Bytes(batch * 64)}}});
    builder.add(
        Op{.name = "sum" + n, .kind = "ADD", .inputs = {mixed, x}, .outputs = {sum}, .in_place = {{0, 0}, {0, 1}}});
    x = sum;
  }
  const TensorId last =
      builder.add(Tensor{.name = "last", .size = Bytes(256), .view_of = ViewOf{x, wide - Bytes(256)}});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(1024), .flags = TensorFlag::output});
  builder.add(Op{.name = "y", .kind = "MUL_MAT", .inputs = {last}, .outputs = {y}});
  Result<Graph> graph = builder.build();
  STOWAGE_CHECK(graph.has_value(), graph ? "" : graph.error().message.c_str());
  return std::move(graph).value();
}

/// The bytes that two tensors share.
inline bool overlap(const Allocation& allocation, const Graph& graph, TensorId a, TensorId b) {
  const Address& x = allocation.tensors[a.index()];
  const Address& y = allocation.tensors[b.index()];
  return x.buffer == y.buffer &&
         ByteRange{x.offset, x.offset + graph.tensor(a).size}.overlaps({y.offset, y.offset + graph.tensor(b).size});
}

}  // namespace stowage::testing
