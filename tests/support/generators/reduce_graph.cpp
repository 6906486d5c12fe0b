#include "support/generators/reduce_graph.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "support/generators/annotations.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/naive_plan.hpp"
#include "support/judges/shadow/shadow.hpp"

namespace stowage::testing {
namespace {

/// One scope of a description: the root, or a body.
struct ScopeRef {
  std::vector<Tensor>* tensors;
  std::vector<Op>* ops;
  Body* body = nullptr;
  std::vector<ApartTensors>* apart = nullptr;  ///< Of the root.
};

void collect(std::vector<Op>& ops, std::vector<ScopeRef>& scopes) {
  for (Op& op : ops) {
    for (Body& body : op.bodies) {
      scopes.push_back({&body.tensors, &body.ops, &body});
      collect(body.ops, scopes);
    }
  }
}

std::vector<ScopeRef> scopes_of(GraphDescription& graph) {
  std::vector<ScopeRef> scopes = {{&graph.tensors, &graph.ops, nullptr, &graph.apart}};
  collect(graph.ops, scopes);
  return scopes;
}

// ---------------------------------------------------------------------------------------------------- taking ops away

bool reads(const Op& op, TensorId tensor, const std::vector<Tensor>& tensors) {
  for (const std::optional<TensorId>& input : op.inputs) {
    for (std::optional<TensorId> at = input; at;) {
      if (*at == tensor) return true;
      const std::optional<ViewOf>& view = tensors[at->index()].view_of;
      at = view ? std::optional(view->tensor) : std::nullopt;
    }
  }
  return false;
}

/// Whether the order of the graph says directly that `first` comes before `second`.
bool is_ordered(const ScopeRef& scope, std::size_t first, std::size_t second) {
  const Op& a = (*scope.ops)[first];
  const Op& b = (*scope.ops)[second];
  return a.stream == b.stream || std::find(b.after.begin(), b.after.end(), OpId(first)) != b.after.end() ||
         std::any_of(a.outputs.begin(), a.outputs.end(),
                     [&](TensorId output) { return reads(b, output, *scope.tensors); });
}

/// Takes the op away and orders what it stood between.
void remove_op(const ScopeRef& scope, std::size_t k) {
  std::vector<Op>& ops = *scope.ops;
  for (std::size_t later = k + 1; later < ops.size(); ++later) {
    if (!is_ordered(scope, k, later)) continue;
    for (std::size_t earlier = 0; earlier < k; ++earlier) {
      if (is_ordered(scope, earlier, k)) ops[later].after.push_back(OpId(earlier));
    }
  }
  ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(k));
  for (Op& op : ops) {
    std::erase(op.after, OpId(k));
    for (OpId& after : op.after) after = OpId(after.index() > k ? after.index() - 1 : after.index());
    std::sort(op.after.begin(), op.after.end());
    op.after.erase(std::unique(op.after.begin(), op.after.end()), op.after.end());
  }
}

/// Nobody reads the tensor any more.
void omit_reads(const ScopeRef& scope, TensorId tensor) {
  for (Op& op : *scope.ops) {
    for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] != tensor) continue;
      op.inputs[i] = std::nullopt;
      std::erase_if(op.in_place, [&](const InPlacePair& pair) { return pair.input == i; });
      std::erase_if(op.aliases, [&](const Alias& alias) { return alias.input == i; });
    }
    for (Body& body : op.bodies)
      std::erase_if(body.inputs, [&](const BodyInput& pair) { return pair.outer == tensor; });
  }
}

/// The first output of the op, at the front, so that another one is there next time, is gone.
void remove_result(const ScopeRef& scope, std::size_t k) {
  Op& op = (*scope.ops)[k];
  if (op.bodies.empty() || op.outputs.empty()) return;
  const TensorId outer = op.outputs.front();
  op.outputs.erase(op.outputs.begin());
  for (Body& body : op.bodies) std::erase_if(body.outputs, [&](const BodyOutput& pair) { return pair.outer == outer; });
  omit_reads(scope, outer);
}

/// What nobody passes in or carries any more, nobody in the body reads either.
void remove_passed(const ScopeRef& scope, std::size_t k, std::size_t position) {
  for (Body& body : (*scope.ops)[k].bodies) {
    if (position >= body.inputs.size()) continue;
    const TensorId inner = body.inputs[position].inner;
    body.inputs.erase(body.inputs.begin() + static_cast<std::ptrdiff_t>(position));
    std::erase_if(body.carried, [&](const Carried& pair) { return pair.in == inner; });
    omit_reads({&body.tensors, &body.ops, &body}, inner);
  }
}

// ------------------------------------------------------------------------------------------------ taking tensors away

bool is_used(const ScopeRef& scope, TensorId id) {
  const auto in_op = [&](const Op& op) {
    return std::find(op.inputs.begin(), op.inputs.end(), std::optional(id)) != op.inputs.end() ||
           std::find(op.outputs.begin(), op.outputs.end(), id) != op.outputs.end();
  };
  const auto is_view = [&](const Tensor& tensor) { return tensor.view_of && tensor.view_of->tensor == id; };
  if (std::any_of(scope.ops->begin(), scope.ops->end(), in_op)) return true;
  if (std::any_of(scope.tensors->begin(), scope.tensors->end(), is_view)) return true;
  if (scope.apart != nullptr && std::any_of(scope.apart->begin(), scope.apart->end(),
                                            [&](const ApartTensors& pair) { return pair.a == id || pair.b == id; }))
    return true;
  if (scope.body == nullptr) return false;
  const Body& body = *scope.body;
  return std::any_of(body.inputs.begin(), body.inputs.end(), [&](const BodyInput& pair) { return pair.inner == id; }) ||
         std::any_of(body.outputs.begin(), body.outputs.end(),
                     [&](const BodyOutput& pair) { return pair.inner == id; }) ||
         std::any_of(body.carried.begin(), body.carried.end(),
                     [&](const Carried& pair) { return pair.in == id || pair.out == id; });
}

void remove_tensor(const ScopeRef& scope, std::size_t t) {
  scope.tensors->erase(scope.tensors->begin() + static_cast<std::ptrdiff_t>(t));
  const auto renumber = [&](TensorId& id) { id = TensorId(id.index() > t ? id.index() - 1 : id.index()); };
  for (Tensor& tensor : *scope.tensors) {
    if (tensor.view_of) renumber(tensor.view_of->tensor);
  }
  for (Op& op : *scope.ops) {
    for (std::optional<TensorId>& input : op.inputs) {
      if (input) renumber(*input);
    }
    for (TensorId& output : op.outputs) renumber(output);
    for (Body& body : op.bodies) {
      for (BodyInput& pair : body.inputs) renumber(pair.outer);
      for (BodyOutput& pair : body.outputs) renumber(pair.outer);
    }
  }
  for (std::size_t i = 0; scope.apart != nullptr && i < scope.apart->size(); ++i) {
    renumber((*scope.apart)[i].a);
    renumber((*scope.apart)[i].b);
  }
  if (scope.body == nullptr) return;
  for (BodyInput& pair : scope.body->inputs) renumber(pair.inner);
  for (BodyOutput& pair : scope.body->outputs) renumber(pair.inner);
  for (Carried& pair : scope.body->carried) {
    renumber(pair.in);
    renumber(pair.out);
  }
}

// -------------------------------------------------------------------------------------------------------------- steps

/// A change to op or tensor number `index` of scope number `scope`.
using Change = std::function<void(const ScopeRef& scope, std::size_t index)>;

std::vector<Change> op_changes() {
  const auto op = [](auto change) -> Change {
    return [change](const ScopeRef& scope, std::size_t k) { change((*scope.ops)[k]); };
  };
  return {[](const ScopeRef& scope, std::size_t k) {
            const std::vector<TensorId> outputs = (*scope.ops)[k].outputs;
            remove_op(scope, k);
            for (const TensorId output : outputs) omit_reads(scope, output);
          },
          remove_op,
          remove_result,
          [](const ScopeRef& scope, std::size_t k) { remove_passed(scope, k, 0); },
          [](const ScopeRef& scope, std::size_t k) { remove_passed(scope, k, 1); },
          [](const ScopeRef& scope, std::size_t k) { remove_passed(scope, k, 2); },
          op([](Op& each) {
            if (each.bodies.size() > 1) each.bodies.pop_back();
          }),
          op([](Op& each) {
            if (each.bodies.size() > 1) each.bodies.erase(each.bodies.begin());
          }),
          op([](Op& each) { each.in_place.clear(); }),
          op([](Op& each) { each.workspaces.clear(), each.zero_fill.workspaces.clear(); }),
          op([](Op& each) { each.zero_fill = {}; }),
          op([](Op& each) {
            for (const OpConstraint& constraint : kOpConstraints) each.*constraint.field = false;
          }),
          op([](Op& each) { each.contiguous_inputs = Contiguity::none; }),
          op([](Op& each) { each.contiguous_outputs = Contiguity::none; }),
          op([](Op& each) { each.after.clear(); }),
          op([](Op& each) { each.batch.clear(); }),
          op([](Op& each) { each.prefetch.reset(); }),
          op([](Op& each) { each.trip_count.reset(); }),
          op([](Op& each) { each.stream = StreamId(0); }),
          op([](Op& each) {
            if (!each.inputs.empty() && each.aliases.empty() && each.in_place.empty()) each.inputs.pop_back();
          }),
          op([](Op& each) {
            if (!each.inputs.empty() && each.aliases.empty() && each.in_place.empty())
              each.inputs.erase(each.inputs.begin());
          }),
          op([](Op& each) {
            if (each.bodies.empty() && each.aliases.empty() && each.in_place.empty() && each.outputs.size() > 1)
              each.outputs.pop_back();
          })};
}

std::vector<Change> tensor_changes() {
  const auto tensor = [](auto change) -> Change {
    return [change](const ScopeRef& scope, std::size_t t) { change((*scope.tensors)[t]); };
  };
  return {[](const ScopeRef& scope, std::size_t t) {
            if (!is_used(scope, TensorId(t))) remove_tensor(scope, t);
          },
          tensor([](Tensor& each) { each.alignment = {}; }),
          tensor([](Tensor& each) { each.flags = each.flags.without({TensorFlag::zero_copy, TensorFlag::reusable}); }),
          tensor([](Tensor& each) { each.flags = each.flags.without(TensorFlag::reusable); }),
          tensor([](Tensor& each) {
            for (const TensorConstraint& constraint : kTensorConstraints)
              each.flags = each.flags.without(constraint.flag);
          }),
          tensor([](Tensor& each) { each.flags = each.flags.without(TensorFlag::output); })};
}

class Reducer {
 public:
  Reducer(const Graph& graph, const std::function<bool(const Graph&)>& fails) : best_(graph), fails_(fails) {}

  [[nodiscard]] Graph run() {
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (const Change& change : op_changes()) smaller = each(change, true) || smaller;
      for (const Change& change : tensor_changes()) smaller = each(change, false) || smaller;
      smaller = try_graph([](GraphDescription& graph) {
                  for (Memory& memory : graph.memories) memory.max_size = {};
                  graph.rings.resize(is_any_prefetch(graph) ? graph.rings.size() : 0);
                }) ||
                smaller;
      smaller = try_graph(remove_annotations) || smaller;
      for (std::size_t i = best_.apart().size(); i-- > 0;)
        smaller = try_graph([&](GraphDescription& graph) {
                    graph.apart.erase(graph.apart.begin() + static_cast<std::ptrdiff_t>(i));
                  }) ||
                  smaller;
    }
    return best_;
  }

 private:
  static bool is_any_prefetch(const GraphDescription& graph) {
    return std::any_of(graph.ops.begin(), graph.ops.end(), [](const Op& op) { return op.prefetch.has_value(); });
  }

  /// Tries the change on everything, last first, inner scopes last.
  bool each(const Change& change, bool ops) {
    bool smaller = false;
    GraphDescription counted = best_.description();
    for (std::size_t s = scopes_of(counted).size(); s-- > 0;) {
      GraphDescription now = best_.description();
      const std::vector<ScopeRef> scopes = scopes_of(now);
      if (s >= scopes.size()) continue;
      for (std::size_t i = ops ? scopes[s].ops->size() : scopes[s].tensors->size(); i-- > 0;) {
        smaller = try_graph([&](GraphDescription& graph) {
                    const std::vector<ScopeRef> all = scopes_of(graph);
                    if (s < all.size() && i < (ops ? all[s].ops->size() : all[s].tensors->size())) change(all[s], i);
                  }) ||
                  smaller;
      }
    }
    return smaller;
  }

  bool try_graph(const std::function<void(GraphDescription&)>& change) {
    GraphDescription candidate = best_.description();
    change(candidate);
    if (candidate == best_.description()) return false;
    const Result<Graph> graph = Graph::build(std::move(candidate));
    if (!graph || races(*graph) || !fails_(*graph)) return false;
    best_ = *graph;
    return true;
  }

  static bool races(const Graph& graph) {
    const Plan plan = naive_plan(graph);
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      const ShadowOptions options{.seed = seed, .order = ShadowOptions::Order::random, .runs = 2};
      if (!shadow_execute(graph, plan, options).findings.empty()) return true;
    }
    return false;
  }

  Graph best_;
  const std::function<bool(const Graph&)>& fails_;
};

}  // namespace

Graph reduce_graph(const Graph& graph, const std::function<bool(const Graph&)>& fails) {
  return Reducer(graph, fails).run();
}

}  // namespace stowage::testing
