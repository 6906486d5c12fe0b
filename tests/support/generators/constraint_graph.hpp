#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "stowage/graph.hpp"

/// For tests: small graphs with groups, fills, bodies, batches, zero copy, session workspaces, fixed addresses and streams.
namespace stowage::oracle {

class ConstraintGraph {
 public:
  explicit ConstraintGraph(std::uint64_t seed) : random_(seed) {}

  /// Nothing when what came out is no valid graph.
  std::optional<Graph> make() {
    streams_ = chance(60) ? 1 : 2 + below(2);
    batches_ = chance(30);
    control_ = chance(60);
    GraphDescription description{.name = "random", .memories = {{.name = "m", .alignment = Bytes(8)}}, .tensors = {}, .ops = {}};
    Body root;
    for (std::size_t i = 0, count = 1 + below(3); i < count; ++i) add_source(root);
    fill(root, 3 + below(6), 0);
    flag_outputs(root);
    description.tensors = std::move(root.tensors);
    description.ops = std::move(root.ops);
    Result<Graph> graph = Graph::build(std::move(description));
    if (!graph) return std::nullopt;
    return std::move(graph).value();
  }

 private:
  struct Scope {
    Body& body;
    std::vector<TensorId> readable;
    std::size_t depth;
  };

  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  bool chance(std::size_t percent) { return below(100) < percent; }
  Bytes some_size() { return Bytes(static_cast<std::int64_t>(8 * (1 + below(3)))); }

  TensorId add_tensor(Body& body, Bytes size, TensorFlags flags = {}) {
    body.tensors.push_back({.name = "t" + std::to_string(body.tensors.size()), .size = size, .flags = flags});
    if (chance(3)) body.tensors.back().flags |= TensorFlag::no_reuse;
    return TensorId(body.tensors.size() - 1);
  }

  void add_source(Body& body) {
    TensorFlags flags = TensorFlag::input;
    if (chance(15)) flags = chance(50) ? TensorFlag::constant : TensorFlag::variable;
    if (flags.has(TensorFlag::input) && chance(30)) {
      flags |= TensorFlag::zero_copy;
      if (chance(70)) flags |= TensorFlag::reusable;
    }
    sources_.push_back(add_tensor(body, some_size(), flags));
  }

  void fill(Body& body, std::size_t ops, std::size_t depth) {
    Scope scope{body, {}, depth};
    if (depth == 0) scope.readable = sources_;
    for (const BodyInput& pair : body.inputs) scope.readable.push_back(pair.inner);
    for (std::size_t k = 0; k < ops; ++k) add_op(scope);
  }

  TensorId pick(const Scope& scope) {
    return scope.readable[scope.readable.size() - 1 - below(std::min<std::size_t>(scope.readable.size(), 6))];
  }

  static Bytes size_of(const Scope& scope, TensorId id) { return scope.body.tensors[id.index()].size; }

  std::vector<TensorId> pick_some(const Scope& scope, std::size_t count) {
    std::vector<TensorId> picked;
    for (std::size_t i = 0; i < count && !scope.readable.empty(); ++i) {
      const TensorId id = pick(scope);
      if (std::find(picked.begin(), picked.end(), id) == picked.end()) picked.push_back(id);
    }
    return picked;
  }

  void add_op(Scope& scope) {
    Op op{.name = "op" + std::to_string(scope.body.ops.size()), .kind = "TEST"};
    op.stream = StreamId(below(streams_));
    if (batches_ && scope.depth == 0 && chance(40)) op.batch = chance(50) ? "a" : "b";
    const std::size_t kind = below(100);
    if (kind < 12) {
      add_concat(scope, op);
    } else if (kind < 22) {
      add_split(scope, op);
    } else if (kind < 45 && control_ && scope.depth < 2) {
      add_control(scope, op);
    } else {
      add_plain(scope, op);
    }
    for (std::size_t j = 0; j < scope.body.ops.size(); ++j) {
      if (chance(20)) op.after.emplace_back(j);
    }
    for (const TensorId output : op.outputs) scope.readable.push_back(output);
    scope.body.ops.push_back(std::move(op));
  }

  static void read(Op& op, const std::vector<TensorId>& tensors) {
    for (const TensorId tensor : tensors) op.inputs.emplace_back(tensor);
  }

  void add_concat(Scope& scope, Op& op) {
    const std::vector<TensorId> parts = pick_some(scope, 2 + below(2));
    Bytes sum;
    for (const TensorId part : parts) sum += size_of(scope, part);
    read(op, parts);
    op.outputs.push_back(add_tensor(scope.body, sum));
    op.contiguous_inputs = Contiguity::packed;
    op.no_task = chance(30) && parts.size() > 1;
  }

  void add_split(Scope& scope, Op& op) {
    if (scope.readable.empty()) return;
    const TensorId whole = pick(scope);
    const Bytes size = size_of(scope, whole);
    read(op, {whole});
    if (size < Bytes(16)) {
      op.outputs.push_back(add_tensor(scope.body, some_size()));
      return;
    }
    const Bytes first(8);
    op.outputs.push_back(add_tensor(scope.body, first));
    op.outputs.push_back(add_tensor(scope.body, size - first));
    op.contiguous_outputs = Contiguity::packed;
    op.no_task = chance(30);
  }

  void add_plain(Scope& scope, Op& op) {
    read(op, pick_some(scope, below(4)));
    for (std::size_t i = 0, count = 1 + below(2); i < count; ++i) op.outputs.push_back(add_tensor(scope.body, some_size()));
    for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
      if (chance(40)) op.in_place.push_back({static_cast<std::uint32_t>(below(op.outputs.size())), i});
    }
    if (!op.inputs.empty() && chance(8)) op.aliases.push_back({0, 0, Bytes(0)});
    if (op.inputs.size() > 1 && chance(25)) op.contiguous_inputs = Contiguity::padded;
    if (op.outputs.size() > 1 && chance(25) && op.aliases.empty()) op.contiguous_outputs = Contiguity::padded;
    for (std::size_t w = 0, count = chance(75) ? 0 : 1 + below(2); w < count; ++w) {
      op.workspaces.push_back({.size = some_size()});
      if (chance(30)) op.workspaces.back().scope = WorkspaceScope::session;
    }
    if (op.aliases.empty() && chance(25)) op.zero_fill.outputs = {0};
    if (!op.workspaces.empty() && chance(40)) op.zero_fill.workspaces = {0};
    if (!op.zero_fill.empty()) op.zero_fill.value = static_cast<std::uint8_t>(chance(80) ? 0 : 7);
    op.fixed_address = chance(6);
  }

  void add_control(Scope& scope, Op& op) {
    const std::vector<TensorId> outside = pick_some(scope, 1 + below(3));
    read(op, outside);
    const std::size_t kind = below(3);
    op.control = kind == 0 ? Control::branch : kind == 1 ? Control::loop : Control::call;
    if (chance(15)) op.workspaces.push_back({.size = some_size()});
    std::vector<TensorId> results;
    if (op.control != Control::loop) {
      for (std::size_t i = 0, count = 1 + below(2); i < count; ++i) results.push_back(add_tensor(scope.body, some_size()));
      op.outputs = results;
    }
    for (std::size_t b = 0, count = op.control == Control::branch ? 2 : 1; b < count; ++b) {
      op.bodies.push_back(make_body(scope, op, outside, results));
    }
  }

  Body make_body(Scope& scope, Op& op, const std::vector<TensorId>& outside, const std::vector<TensorId>& results) {
    Body body;
    for (const TensorId outer : outside) {
      if (chance(20)) continue;
      const TensorId inner = add_tensor(body, size_of(scope, outer));
      body.tensors.back().flags = {};
      body.inputs.push_back({outer, inner});
    }
    fill(body, 1 + below(3), scope.depth + 1);
    if (op.control == Control::loop) {
      carry(scope, op, body);
    } else {
      for (const TensorId outer : results) body.outputs.push_back({find_or_make(body, size_of(scope, outer)), outer});
    }
    return body;
  }

  /// A tensor of the body with that size; a new one of an op at the end where there is none.
  TensorId find_or_make(Body& body, Bytes size) {
    std::vector<TensorId> fitting;
    for (std::size_t t = 0; t < body.tensors.size(); ++t) {
      if (body.tensors[t].size == size) fitting.emplace_back(t);
    }
    return fitting.empty() || chance(30) ? make_last(body, size) : fitting[below(fitting.size())];
  }

  TensorId make_last(Body& body, Bytes size) {
    Op op{.name = "last", .kind = "TEST"};
    op.stream = StreamId(below(streams_));
    for (const BodyInput& pair : body.inputs) {
      if (chance(50)) op.inputs.emplace_back(pair.inner);
    }
    if (!op.inputs.empty() && chance(40)) op.in_place.push_back({0, 0});
    op.outputs.push_back(add_tensor(body, size));
    body.ops.push_back(op);
    return op.outputs.front();
  }

  void carry(Scope& scope, Op& op, Body& body) {
    const std::vector<BodyInput> inputs = body.inputs;
    for (const BodyInput& pair : inputs) {
      if (chance(30)) continue;
      const Bytes size = body.tensors[pair.inner.index()].size;
      const TensorId out = chance(60) ? make_last(body, size) : find_or_make(body, size);
      body.carried.push_back({out, pair.inner});
      if (chance(30)) continue;
      const TensorId outer = add_tensor(scope.body, size);
      op.outputs.push_back(outer);
      body.outputs.push_back({chance(50) ? out : pair.inner, outer});
    }
  }

  void flag_outputs(Body& root) {
    for (Tensor& tensor : root.tensors) {
      if (tensor.flags.any_of(kOwnAddress) || !chance(20)) continue;
      tensor.flags |= TensorFlag::output;
      if (!tensor.flags.has(TensorFlag::zero_copy) && chance(30)) {
        tensor.flags |= TensorFlag::zero_copy;
        if (chance(70)) tensor.flags |= TensorFlag::reusable;
      }
    }
  }

  std::mt19937_64 random_;
  std::size_t streams_ = 1;
  bool batches_ = false;
  bool control_ = false;
  std::vector<TensorId> sources_;
};

}  // namespace stowage::oracle
