#include "graph/flatten.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "graph/validation.hpp"

namespace stowage {
namespace {

Error fault(std::string path, std::string message) {
  return Error{ErrorCode::invalid, std::move(message), {.file = {}, .line = {}, .path = std::move(path)}};
}

/// Checks that the op has as many bodies as its control requires.
Status check_control(const Op& op, OpId id, const std::string& path) {
  const std::size_t count = op.bodies.size();
  const auto refuse = [&](const char* rule) {
    return fault(path, fmt::format("{} has {} {}; {}", describe(op, id), count, count == 1 ? "body" : "bodies", rule));
  };
  switch (op.control) {
    case Control::none:
      return count == 0 ? Status(Done{}) : refuse("an op with bodies needs 'control'");
    case Control::branch:
      return count >= 1 ? Status(Done{}) : refuse("a branch has at least one");
    case Control::loop:
      return count == 1 ? Status(Done{}) : refuse("a loop has exactly one");
    case Control::call:
      return count == 1 ? Status(Done{}) : refuse("a call has exactly one");
  }
  return Done{};
}

class Flattener {
 public:
  explicit Flattener(const GraphDescription& root) : root_(root) {}

  Result<Flattened> run() {
    Scope scope;
    STOWAGE_TRY_STATUS(add(scope, root_.tensors, root_.ops, "", 0));
    result_.bodies.resize(result_.ops.size());
    return std::move(result_);
  }

 private:
  /// `scope` names the op and body, with pairs in local ids; `path` ends in a dot unless it is empty.
  Status add(Scope scope, const std::vector<Tensor>& tensors, const std::vector<Op>& ops, const std::string& path,
             std::size_t depth) {
    if (depth > kMaxDepth) return fault(path, fmt::format("bodies are nested more than {} deep", kMaxDepth));
    // Only ids are checked here, not names and memories, which all scopes share.
    STOWAGE_TRY_STATUS(validation::check_references({{}, {}, tensors, strip(ops), {}}, path));
    const ScopeId id(result_.scopes.size());
    scope.first_tensor = TensorId(result_.tensors.size());
    scope.first_op = OpId(result_.ops.size());
    scope.tensor_count = tensors.size();
    scope.op_count = ops.size();
    STOWAGE_TRY_STATUS(globalize_pairs(scope, path));
    append(tensors, ops);
    const OpId first_op = scope.first_op;
    result_.scopes.push_back(std::move(scope));
    for (std::size_t k = 0; k < ops.size(); ++k) {
      STOWAGE_TRY_STATUS(check_control(ops[k], OpId(k), fmt::format("{}ops[{}]", path, k)));
      for (std::uint32_t b = 0; b < ops[k].bodies.size(); ++b) {
        const Body& body = ops[k].bodies[b];
        const OpId owner(first_op.index() + k);
        if (result_.bodies.size() <= owner.index()) result_.bodies.resize(owner.index() + 1);
        result_.bodies[owner.index()].push_back(ScopeId(result_.scopes.size()));
        Scope inner{owner, b, id, {}, 0, {}, 0, body.inputs, body.outputs, body.carried};
        STOWAGE_TRY_STATUS(
            add(std::move(inner), body.tensors, body.ops, fmt::format("{}ops[{}].bodies[{}].", path, k, b), depth + 1));
      }
    }
    return Done{};
  }

  static std::vector<Op> strip(const std::vector<Op>& ops) {
    std::vector<Op> result;
    result.reserve(ops.size());
    for (const Op& op : ops) result.push_back(without_bodies(op));
    return result;
  }

  static Op without_bodies(const Op& op) {
    if (op.bodies.empty()) return op;
    Op bare = op;
    bare.bodies.clear();
    return bare;
  }

  Status globalize_pairs(Scope& scope, const std::string& path) const {
    if (path.empty()) return Done{};
    const Scope& outside = result_.scopes[scope.parent.index()];
    const auto move = [&](TensorId& id, const Scope& to, const char* list, std::size_t at) -> Status {
      if (id.index() >= to.tensor_count)
        return fault(fmt::format("{}{}[{}]", path, list, at),
                     fmt::format("names tensor {}, which does not exist", id.index()));
      id = TensorId(to.first_tensor.index() + id.index());
      return Done{};
    };
    for (std::size_t i = 0; i < scope.inputs.size(); ++i) {
      STOWAGE_TRY_STATUS(move(scope.inputs[i].outer, outside, "inputs", i));
      STOWAGE_TRY_STATUS(move(scope.inputs[i].inner, scope, "inputs", i));
    }
    for (std::size_t i = 0; i < scope.outputs.size(); ++i) {
      STOWAGE_TRY_STATUS(move(scope.outputs[i].inner, scope, "outputs", i));
      STOWAGE_TRY_STATUS(move(scope.outputs[i].outer, outside, "outputs", i));
    }
    for (std::size_t i = 0; i < scope.carried.size(); ++i) {
      STOWAGE_TRY_STATUS(move(scope.carried[i].out, scope, "carried", i));
      STOWAGE_TRY_STATUS(move(scope.carried[i].in, scope, "carried", i));
    }
    return Done{};
  }

  void append(const std::vector<Tensor>& tensors, const std::vector<Op>& ops) {
    const std::size_t tensor_base = result_.tensors.size();
    const std::size_t op_base = result_.ops.size();
    for (const Tensor& tensor : tensors) {
      result_.tensors.push_back(tensor);
      if (std::optional<ViewOf>& view = result_.tensors.back().view_of)
        view->tensor = TensorId(tensor_base + view->tensor.index());
    }
    for (const Op& op : ops) {
      Op& flat = result_.ops.emplace_back(without_bodies(op));
      for (std::optional<TensorId>& input : flat.inputs) {
        if (input) input = TensorId(tensor_base + input->index());
      }
      for (TensorId& output : flat.outputs) output = TensorId(tensor_base + output.index());
      for (OpId& after : flat.after) after = OpId(op_base + after.index());
    }
  }

  const GraphDescription& root_;
  Flattened result_;
};

/// The last scope that begins at or before the index; a scope's own range comes before those of its bodies.
template <class First>
ScopeId scope_holding(const std::vector<Scope>& scopes, std::size_t index, First first) {
  const auto next = std::upper_bound(scopes.begin(), scopes.end(), index,
                                     [&](std::size_t at, const Scope& scope) { return at < first(scope); });
  return ScopeId(static_cast<std::size_t>(next - scopes.begin()) - 1);
}

}  // namespace

Result<Flattened> flatten(const GraphDescription& description) { return Flattener(description).run(); }

ScopeId scope_of_tensor(const std::vector<Scope>& scopes, std::size_t tensor) {
  return scope_holding(scopes, tensor, [](const Scope& s) { return s.first_tensor.index(); });
}

ScopeId scope_of_op(const std::vector<Scope>& scopes, std::size_t op) {
  return scope_holding(scopes, op, [](const Scope& s) { return s.first_op.index(); });
}

std::string prefix_of(const std::vector<Scope>& scopes, ScopeId id) {
  if (id.index() == 0) return "";
  const Scope& scope = scopes[id.index()];
  const std::size_t op = scope.op.index() - scopes[scope.parent.index()].first_op.index();
  return fmt::format("{}ops[{}].bodies[{}].", prefix_of(scopes, scope.parent), op, scope.body);
}

std::string described_path(const std::string& path, const std::vector<Scope>& scopes) {
  for (const std::string_view list : {"tensors[", "ops["}) {
    if (!path.starts_with(list)) continue;
    std::size_t index = 0;
    const char* const begin = path.data() + list.size();
    const char* const end = std::from_chars(begin, path.data() + path.size(), index).ptr;
    if (end == begin) return path;
    const bool tensor = list.front() == 't';
    const ScopeId id = tensor ? scope_of_tensor(scopes, index) : scope_of_op(scopes, index);
    const Scope& scope = scopes[id.index()];
    const std::size_t local = index - (tensor ? scope.first_tensor.index() : scope.first_op.index());
    return prefix_of(scopes, id) + std::string(list) + std::to_string(local) + end;
  }
  return path;
}

}  // namespace stowage
