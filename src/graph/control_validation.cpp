#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/alias_classes.hpp"
#include "graph/validation.hpp"

/// The rules of bodies: what goes in, what comes out, what a loop carries.
namespace stowage::validation {
namespace {

constexpr TensorFlags kOutside{TensorFlag::input, TensorFlag::output};

/// The rules of one body.
class BodyCheck {
 public:
  BodyCheck(const Graph& graph, ScopeId id) : graph_(graph), scope_(graph.scope(id)), op_(graph.op(scope_.op)) {
    for (std::size_t k = 0; k < scope_.op_count; ++k) {
      for (const TensorId output : graph.op(op_at(k)).outputs) written_.insert(graph.root(output).tensor);
    }
    for (const BodyInput& pair : scope_.inputs) passed_.insert(pair.inner);
  }

  Status run() {
    STOWAGE_TRY_STATUS(check_tensors());
    STOWAGE_TRY_STATUS(check_ops());
    STOWAGE_TRY_STATUS(check_inputs());
    STOWAGE_TRY_STATUS(check_carried());
    return check_outputs();
  }

 private:
  [[nodiscard]] OpId op_at(std::size_t k) const { return OpId(scope_.first_op.index() + k); }
  [[nodiscard]] std::string name(TensorId id) const { return describe(graph_.tensor(id), id); }
  [[nodiscard]] Error refuse(const char* list, std::size_t at, const std::string& what) const {
    return fault_at(fmt::format("ops[{}].bodies[{}].{}[{}]", scope_.op.index(), scope_.body, list, at),
                    fmt::format("body {} of {}: {}", scope_.body, describe(op_, scope_.op), what));
  }

  Status check_tensors() {
    for (std::size_t i = 0; i < scope_.tensor_count; ++i) {
      const TensorId id(scope_.first_tensor.index() + i);
      if (!graph_.tensor(id).flags.any_of(kOutside)) continue;
      return fault_at(
          fmt::format("tensors[{}].flags", id.index()),
          name(id) +
              " is in a body, so it cannot be an input or output of the graph: use the body's 'inputs' and 'outputs'");
    }
    return Done{};
  }

  Status check_ops() {
    for (std::size_t k = 0; k < scope_.op_count; ++k) {
      const Op& op = graph_.op(op_at(k));
      const std::string path = fmt::format("ops[{}]", op_at(k).index());
      if (op.prefetch) return fault_at(path + ".prefetch", describe(op, op_at(k)) + " prefetches, but is in a body");
      if (!op.batch.empty())
        return fault_at(path + ".batch", describe(op, op_at(k)) +
                                             " has a batch label, but is in a body; label the op that has the body");
    }
    return Done{};
  }

  /// Both ends of a pair have the same size and memory.
  Status check_alike(TensorId inner, TensorId outer, const char* list, std::size_t at) {
    const Tensor& inside = graph_.tensor(inner);
    const Tensor& outside = graph_.tensor(outer);
    if (inside.size != outside.size)
      return refuse(list, at,
                    fmt::format("{} has {} bytes, {} has {}", name(inner), inside.size.value(), name(outer),
                                outside.size.value()));
    if (inside.memory != outside.memory)
      return refuse(list, at, fmt::format("{} and {} are in different memories", name(inner), name(outer)));
    return Done{};
  }

  Status check_inputs() {
    std::set<TensorId> seen;
    std::set<TensorId> given;
    for (const std::optional<TensorId>& input : op_.inputs) {
      if (input) given.insert(*input);
    }
    for (std::size_t i = 0; i < scope_.inputs.size(); ++i) {
      const auto [outer, inner] = scope_.inputs[i];
      const Tensor& tensor = graph_.tensor(inner);
      if (!given.contains(outer)) return refuse("inputs", i, fmt::format("{} is not an input of the op", name(outer)));
      if (!seen.insert(inner).second) return refuse("inputs", i, fmt::format("{} is given twice", name(inner)));
      if (tensor.view_of || tensor.flags.any_of(kOwnAddress))
        return refuse(
            "inputs", i,
            fmt::format("{} comes from outside the body, so it cannot be a view, constant, variable or external",
                        name(inner)));
      STOWAGE_TRY_STATUS(check_alike(inner, outer, "inputs", i));
    }
    for (std::size_t k = 0; k < scope_.op_count; ++k) {
      for (const TensorId output : graph_.op(op_at(k)).outputs) {
        if (!seen.contains(output)) continue;
        return fault_at(fmt::format("ops[{}].outputs", op_at(k).index()),
                        fmt::format("{} writes {}, which comes from outside the body",
                                    describe(graph_.op(op_at(k)), op_at(k)), name(output)));
      }
    }
    return Done{};
  }

  Status check_carried() {
    if (!scope_.carried.empty() && op_.control != Control::loop)
      return refuse("carried", 0, "only a loop carries values");
    std::set<TensorId> seen;
    for (std::size_t i = 0; i < scope_.carried.size(); ++i) {
      const auto [out, in] = scope_.carried[i];
      if (!passed_.contains(in))
        return refuse("carried", i, fmt::format("{} is carried, but has no value for the first iteration", name(in)));
      if (!seen.insert(in).second) return refuse("carried", i, fmt::format("{} is carried twice", name(in)));
      const Tensor& tensor = graph_.tensor(out);
      if (tensor.view_of || tensor.flags.any_of(kOwnAddress))
        return refuse("carried", i,
                      fmt::format("{} is carried, so it cannot be a view, constant, variable or external", name(out)));
      if (out != in && (passed_.contains(out) || !written_.contains(out)))
        return refuse(
            "carried", i,
            fmt::format("{} is carried, but no op of the body writes it; add one that copies the value", name(out)));
      STOWAGE_TRY_STATUS(check_alike(out, in, "carried", i));
    }
    return Done{};
  }

  Status check_outputs() {
    std::set<TensorId> seen;
    for (std::size_t i = 0; i < scope_.outputs.size(); ++i) {
      const auto [inner, outer] = scope_.outputs[i];
      if (std::find(op_.outputs.begin(), op_.outputs.end(), outer) == op_.outputs.end())
        return refuse("outputs", i, fmt::format("{} is not an output of the op", name(outer)));
      if (!seen.insert(outer).second) return refuse("outputs", i, fmt::format("{} is given twice", name(outer)));
      STOWAGE_TRY_STATUS(check_alike(inner, outer, "outputs", i));
      STOWAGE_TRY_STATUS(check_result(inner, i));
    }
    for (const TensorId output : op_.outputs) {
      if (!seen.contains(output))
        return refuse("outputs", scope_.outputs.size(), fmt::format("nothing gives {} a value", name(output)));
    }
    return Done{};
  }

  Status check_result(TensorId inner, std::size_t at) {
    if (op_.control == Control::loop) {
      const bool carried = std::any_of(scope_.carried.begin(), scope_.carried.end(),
                                       [&](Carried pair) { return pair.out == inner || pair.in == inner; });
      if (carried) return Done{};
      return refuse(
          "outputs", at,
          fmt::format("{} is a result of the loop but is not carried: after zero iterations it would be undefined",
                      name(inner)));
    }
    const TensorId root = graph_.root(inner).tensor;
    if (written_.contains(root) || passed_.contains(root) || graph_.tensor(root).flags.any_of(kOwnAddress))
      return Done{};
    return refuse("outputs", at, fmt::format("no op writes {}", name(inner)));
  }

  const Graph& graph_;
  const Scope& scope_;
  const Op& op_;
  std::set<TensorId> written_;  ///< Roots.
  std::set<TensorId> passed_;
};

/// Rejects attributes that an op with bodies must not have itself.
Status check_owner(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  const std::string path = fmt::format("ops[{}]", id.index());
  const bool plain = op.in_place.empty() && op.aliases.empty() && op.contiguous_inputs == Contiguity::none &&
                     op.contiguous_outputs == Contiguity::none && op.zero_fill.empty() && !op.prefetch && !op.no_task;
  if (!plain)
    return fault_at(path, describe(op, id) +
                              " has bodies: in-place pairs, aliases, contiguous groups, fills, prefetches and no_task "
                              "belong to the ops inside");
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const Tensor& tensor = graph.tensor(op.outputs[i]);
    if (!tensor.view_of && !tensor.flags.any_of(kOwnAddress)) continue;
    return fault_at(
        fmt::format("{}.outputs[{}]", path, i),
        fmt::format("{} is the result of {}, which has bodies, so it cannot be a view, constant, variable or external",
                    describe(tensor, op.outputs[i]), describe(op, id)));
  }
  return Done{};
}

/// A carried value must not share memory with a tensor that enters the body as another value: the copies at the back
/// edge would overwrite each other's values.
Status check_carried_apart(const Graph& graph, OffsetUnion& joined) {
  const auto representative = [&](TensorId id) { return joined.find(graph.root(id).tensor.index()).representative; };
  for (std::size_t s = 1; s < graph.scopes().size(); ++s) {
    const Scope& scope = graph.scopes()[s];
    if (scope.carried.empty()) continue;
    std::map<std::size_t, TensorId> incoming;
    for (const BodyInput& pair : scope.inputs) incoming.emplace(representative(pair.inner), pair.inner);
    for (std::size_t i = 0; i < scope.carried.size(); ++i) {
      const auto [out, in] = scope.carried[i];
      const auto found = incoming.find(representative(out));
      if (found == incoming.end() || representative(out) == representative(in)) continue;
      return fault_at(
          fmt::format("ops[{}].bodies[{}].carried[{}]", scope.op.index(), scope.body, i),
          fmt::format("{} is carried, but shares memory with {}, which enters the body as another value; add an op "
                      "that copies the value",
                      describe(graph.tensor(out), out), describe(graph.tensor(found->second), found->second)));
    }
  }
  return Done{};
}

/// Tensors that bodies put at one address must all be aligned there.
Status check_shared_alignments(const Graph& graph, OffsetUnion& joined) {
  std::vector<Bytes> lowest(graph.tensors().size(), kMaxBytes);
  const auto place = [&](std::size_t t) {
    const ViewOf root = graph.root(TensorId(t));
    const OffsetUnion::MemberPlace at = joined.find(root.tensor.index());
    return OffsetUnion::MemberPlace{at.representative, at.offset + root.offset};
  };
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const OffsetUnion::MemberPlace at = place(t);
    lowest[at.representative] = std::min(lowest[at.representative], at.offset);
  }
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const OffsetUnion::MemberPlace at = place(t);
    if (is_aligned(at.offset - lowest[at.representative], graph.alignment(TensorId(t)))) continue;
    return fault_at(fmt::format("tensors[{}]", t),
                    fmt::format("{} would lie {} bytes into the memory that it shares through bodies, which is not a "
                                "multiple of its alignment {}",
                                describe(graph.tensors()[t], TensorId(t)),
                                (at.offset - lowest[at.representative]).value(), graph.alignment(TensorId(t)).value()));
  }
  return Done{};
}

/// The tensors that pairs put at one address can all lie there, and no op writes a constant through a pair.
Status check_shared(const Graph& graph, OffsetUnion& joined) {
  std::optional<Error> contradiction;
  join_bodies(graph, joined, [&](ScopeId scope, TensorId inner, TensorId outer) {
    if (contradiction) return;
    contradiction = fault_at(fmt::format("ops[{}].bodies[{}]", graph.scope(scope).op.index(), graph.scope(scope).body),
                             fmt::format("{} cannot lie where {} does: other views or aliases place it elsewhere",
                                         describe(graph.tensor(inner), inner), describe(graph.tensor(outer), outer)));
  });
  if (contradiction) return *contradiction;
  STOWAGE_TRY_STATUS(check_carried_apart(graph, joined));
  STOWAGE_TRY_STATUS(check_shared_alignments(graph, joined));
  std::vector<bool> constant(graph.tensors().size());
  const auto representative = [&](TensorId id) { return joined.find(graph.root(id).tensor.index()).representative; };
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    if (graph.tensors()[t].flags.has(TensorFlag::constant)) constant[representative(TensorId(t))] = true;
  }
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (op.no_task || !constant[representative(op.outputs[i])]) continue;
      return fault_at(fmt::format("ops[{}].outputs[{}]", k, i),
                      fmt::format("{} writes {}, which shares memory with a constant", describe(op, OpId(k)),
                                  describe(graph.tensor(op.outputs[i]), op.outputs[i])));
    }
  }
  return Done{};
}

}  // namespace

Status check_bodies(const Graph& graph, OffsetUnion& aliases) {
  if (!graph.has_bodies()) return Done{};
  for (std::size_t s = 1; s < graph.scopes().size(); ++s) {
    STOWAGE_TRY_STATUS(check_owner(graph, graph.scope(ScopeId(s)).op));
    STOWAGE_TRY_STATUS(BodyCheck(graph, ScopeId(s)).run());
  }
  return check_shared(graph, aliases);
}

}  // namespace stowage::validation
