#pragma once

#include <optional>

#include "liveness/interface/timeline.hpp"
#include "stowage/graph.hpp"

namespace stowage {

/// Calls `f(tensor, writes)` for every tensor that a step reads or writes, possibly twice for the same tensor. What is
/// copied for an op counts as read by the op itself.
template <class F>
void for_each_touched(const Graph& graph, const Moment& moment, F&& f) {
  if (moment.kind == Moment::Kind::start || moment.kind == Moment::Kind::copy) return;
  const Op& op = graph.op(moment.op);
  const auto inputs = [&] {
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) f(*input, false);
    }
  };
  switch (moment.kind) {
    case Moment::Kind::op:
      if (op.no_task) return;
      inputs();
      for (const TensorId output : op.outputs) f(output, true);
      return;
    case Moment::Kind::enter:
      inputs();
      for (const ScopeId body : graph.bodies(moment.op)) {
        for (const Carried& pair : graph.scope(body).carried) f(pair.in, true);
      }
      return;
    case Moment::Kind::body_end: {
      // The next iteration of a loop reads the inputs of the body again.
      const Scope& scope = graph.scope(moment.scope);
      for (const BodyOutput& pair : scope.outputs) {
        f(pair.inner, false);
        f(pair.outer, true);
      }
      for (const Carried& pair : scope.carried) {
        f(pair.out, false);
        f(pair.in, true);
      }
      if (op.control != Control::loop) return;
      for (const BodyInput& pair : scope.inputs) f(pair.inner, false);
      return;
    }
    case Moment::Kind::exit:
      for (const TensorId output : op.outputs) f(output, true);
      return;
    case Moment::Kind::start:
    case Moment::Kind::copy:
      return;
  }
}

}  // namespace stowage
