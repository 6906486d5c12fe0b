#include "verify/takeovers.hpp"

#include <algorithm>

namespace stowage::verification {

Takeovers::Takeovers(const Case& input, const std::vector<Extent>& extents, const std::vector<RunNeeds>& runs)
    : input_(input), extents_(extents), runs_(runs) {
  if (input.graph.stream_count() > 1) list_accesses();
  for (std::size_t k = 0; k < input.graph.ops().size(); ++k) {
    if (!input.graph.ops()[k].no_task && !input.graph.ops()[k].in_place.empty()) add_pairs(OpId(k));
  }
  for (std::size_t s = 1; s < input.graph.scopes().size(); ++s) add_hand_overs(ScopeId(s));
}

const std::vector<Takeover>& Takeovers::at(const Event& event) const {
  static const std::vector<Takeover> kNothing;
  const auto found = takeovers_.find(key(event));
  return found == takeovers_.end() ? kNothing : found->second;
}

bool Takeovers::are_linked(ValueId a, ValueId b) const {
  return std::any_of(takeovers_.begin(), takeovers_.end(), [&](const auto& entry) {
    return std::any_of(entry.second.begin(), entry.second.end(), [&](const Takeover& each) {
      return (each.from == a && each.to == b) || (each.from == b && each.to == a);
    });
  });
}

std::vector<std::uint32_t> Takeovers::ops_of(const RunNeeds& run, ValueId value) const {
  std::vector<std::uint32_t> ops = ops_of_[value.index()];
  std::erase_if(ops, [&](std::uint32_t op) { return run.course.event_of[op] == 0; });
  if (ops.empty()) ops.push_back(run.run.first_task());
  return ops;
}

void Takeovers::add_pairs(OpId id) {
  const Op& op = input_.graph.op(id);
  for (const InPlacePair pair : op.in_place) {
    const TensorId out = op.outputs[pair.output];
    const TensorId in = *op.inputs[pair.input];
    if (input_.graph.tensor(out).size > input_.graph.tensor(in).size) continue;
    if (input_.graph.root(out).offset != Bytes(0) || input_.values[input_.values.of(out)].filled) continue;
    if (!reads_otherwise(op, pair) && !writes_beside(op, pair)) add({Event::Kind::op, id, {}}, in, out);
  }
}

/// Whether the op reads the input's value also without a pair with this output, or reads bytes that the output would
/// overwrite as other elements of another input.
bool Takeovers::reads_otherwise(const Op& op, InPlacePair pair) const {
  const TensorId in = *op.inputs[pair.input];
  const Bytes at = input_.values.offset(in);
  const ByteRange written{at, at + input_.graph.tensor(op.outputs[pair.output]).size};
  for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.inputs[i] || input_.values.of(*op.inputs[i]) != input_.values.of(in)) continue;
    const InPlacePair same{pair.output, i};
    if (std::find(op.in_place.begin(), op.in_place.end(), same) == op.in_place.end()) return true;
    const Bytes other = input_.values.offset(*op.inputs[i]);
    const ByteRange read{other, other + input_.graph.tensor(*op.inputs[i]).size};
    if (other != at && read.overlaps(written)) return true;
  }
  return false;
}

/// Whether another output of the op is in one of the two values, where the input is.
bool Takeovers::writes_beside(const Op& op, InPlacePair pair) const {
  const TensorId out = op.outputs[pair.output];
  const TensorId in = *op.inputs[pair.input];
  const Bytes to_input = input_.values.offset(in) - input_.values.offset(out);
  const Bytes at = input_.values.offset(in);
  const ByteRange bytes{at, at + input_.graph.tensor(in).size};
  return std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId other) {
    const ValueId value = input_.values.of(other);
    if (other == out || (value != input_.values.of(in) && value != input_.values.of(out))) return false;
    const Bytes shift = value == input_.values.of(out) ? to_input : Bytes(0);
    const Bytes lower = input_.values.offset(other) + shift;
    return bytes.overlaps({lower, lower + input_.graph.tensor(other).size});
  });
}

void Takeovers::add_hand_overs(ScopeId body) {
  const Scope& scope = input_.graph.scope(body);
  const Event end{Event::Kind::body_end, scope.op, body};
  if (input_.graph.op(scope.op).control != Control::loop) {
    for (const BodyOutput& pair : scope.outputs) add(end, pair.inner, pair.outer);
    return;
  }
  for (const BodyInput& pair : scope.inputs) {
    if (is_carried(scope, pair.inner)) add({Event::Kind::enter, scope.op, {}}, pair.outer, pair.inner);
  }
  for (const Carried& pair : scope.carried) {
    // Another iteration needs what comes from outside again.
    ScopeId home = input_.values[input_.values.of(pair.out)].home;
    while (home > body) home = input_.graph.scope(home).parent;
    if (home == body) add(end, pair.out, pair.in);
  }
}

void Takeovers::add(const Event& event, TensorId from, TensorId to) {
  const ValueId source = input_.values.of(from);
  const ValueId target = input_.values.of(to);
  if (source == target || !is_change(event, source, target)) return;
  const Extent& a = extents_[source.index()];
  const Extent& b = extents_[target.index()];
  const Bytes distance = (input_.values.offset(from) - a.lowest) - (input_.values.offset(to) - b.lowest);
  if (!is_aligned(distance, std::min(a.alignment, b.alignment))) return;
  if (is_apart(source, target, distance)) return;
  takeovers_[key(event)].push_back({source, target, distance});
}

/// Whether the graph keeps tensors of the two apart that would have bytes in common.
bool Takeovers::is_apart(ValueId from, ValueId to, Bytes distance) const {
  const auto bytes_in = [&](TensorId tensor, ValueId value) {
    const Bytes lower = input_.values.offset(tensor) - extents_[value.index()].lowest;
    return ByteRange{lower, lower + input_.graph.tensor(tensor).size};
  };
  const auto meet = [&](TensorId first, TensorId second) {
    if (input_.values.of(first) != from || input_.values.of(second) != to) return false;
    const ByteRange moved = bytes_in(second, to);
    return bytes_in(first, from).overlaps({moved.lower + distance, moved.upper + distance});
  };
  const auto& pairs = input_.graph.apart();
  return std::any_of(pairs.begin(), pairs.end(),
                     [&](const ApartTensors& pair) { return meet(pair.a, pair.b) || meet(pair.b, pair.a); });
}

bool Takeovers::is_change(const Event& event, ValueId from, ValueId to) const {
  for (const RunNeeds& run : runs_) {
    const bool end = event.kind == Event::Kind::body_end;
    const EventIndex at = end ? run.course.end_of[event.body.index()] : run.course.event_of[event.op.index()];
    if (at == 0 || run.needs.of(from).empty() || run.needs.of(to).empty()) continue;
    if (!run.needs.ends_at(from, at) || !run.needs.begins_at(to, at) || !is_over(run, event.op, from)) return false;
  }
  return true;
}

void Takeovers::list_accesses() {
  ops_of_.resize(input_.values.size());
  for (std::uint32_t k = 0; k < input_.graph.ops().size(); ++k) {
    const Op& op = input_.graph.ops()[k];
    if (op.no_task) continue;
    for (const std::optional<TensorId>& each : op.inputs) {
      if (each) ops_of_[input_.values.of(*each).index()].push_back(k);
    }
    for (const TensorId output : op.outputs) ops_of_[input_.values.of(output).index()].push_back(k);
    for (std::size_t w = 0; w < op.workspaces.size(); ++w) ops_of_[input_.values.of(OpId(k), w).index()].push_back(k);
  }
}

/// With several streams: whether every earlier access to the value happens before the op.
bool Takeovers::is_over(const RunNeeds& run, OpId op, ValueId value) const {
  if (run.order.streams() == 1) return true;
  const std::vector<EventIndex>& event_of = run.course.event_of;
  return std::all_of(ops_of_[value.index()].begin(), ops_of_[value.index()].end(), [&](std::uint32_t other) {
    const bool earlier = event_of[other] != 0 && event_of[other] < event_of[op.index()];
    return !earlier ||
           run.order.happens_before({other, Phase::run}, {static_cast<std::uint32_t>(op.index()), Phase::run});
  });
}

}  // namespace stowage::verification
