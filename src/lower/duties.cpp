#include "lower/duties.hpp"

#include "graph/interface/dependencies.hpp"
#include "graph/interface/relations.hpp"

namespace stowage {

Duties::Duties(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan), batch_of_(batches_of_ops(graph)) {
  list_fills();
  list_copies();
  if (graph.batches().empty()) return;
  for (std::uint32_t batch = 0; batch <= graph.batches().size(); ++batch) absent_.push_back(find_absent(batch));
}

void Duties::list_fills() {
  for (std::uint32_t i = 0; i < plan_.clears.size(); ++i) {
    const Clear& clear = plan_.clears[i];
    if (clear.size == Bytes(0)) continue;
    if (clear.before == OpId(0)) {
      fills_at_start_.push_back(i);
    } else {
      fills_before_.add(clear.before, i);
    }
  }
  fills_before_.sort();
}

void Duties::list_copies() {
  for (std::uint32_t i = 0; i < plan_.copies.size(); ++i) {
    const Copy& copy = plan_.copies[i];
    sources_.push_back(source_of(graph_, copy));
    if (copy.size == Bytes(0)) continue;
    if (copy.when.kind == CopyMoment::Kind::before_op) {
      copies_before_.add(copy.when.op, i);
    } else {
      copies_at_end_.add(graph_.scope_of(copy.tensor), i);
    }
  }
  copies_before_.sort();
  copies_at_end_.sort();
}

bool Duties::is_task(OpId op, std::uint32_t batch) const {
  if (!runs(op, batch)) return false;
  bool task = !graph_.op(op).no_task;
  if (!task) copies_before_.visit(op, [&](std::uint32_t i) { task = task || is_made(i, batch); });
  return task;
}

/// A tensor is absent where ops write it, but none of this batch, and nobody has given it before the run.
std::vector<bool> Duties::find_absent(std::uint32_t batch) const {
  const std::size_t tensors = graph_.tensors().size();
  std::vector<bool> given(tensors);  // by representative
  for (std::size_t t = 0; t < tensors; ++t) {
    const bool flagged = graph_.tensors()[t].flags.any_of(kOwnAddress | TensorFlag::input);
    if (flagged) given[graph_.relations().place(TensorId(t)).representative.index()] = true;
  }
  std::vector<bool> produced(tensors);
  std::vector<bool> written(tensors);
  for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
    for (const TensorId output : graph_.ops()[k].outputs) {
      const std::size_t root = graph_.root(output).tensor.index();
      produced[root] = true;
      if (runs(OpId(k), batch)) written[root] = true;
    }
  }
  std::vector<bool> absent(tensors);
  const auto is_absent = [&](TensorId tensor) {
    const std::size_t root = graph_.root(tensor).tensor.index();
    return produced[root] && !written[root] && !given[graph_.relations().place(tensor).representative.index()];
  };
  for (std::size_t t = 0; t < tensors; ++t) absent[t] = is_absent(TensorId(t));
  for (const Scope& scope : graph_.scopes())
    for (const BodyInput& pair : scope.inputs)
      absent[graph_.root(pair.inner).tensor.index()] = absent[graph_.root(pair.outer).tensor.index()];
  for (std::size_t t = 0; t < tensors; ++t) absent[t] = absent[graph_.root(TensorId(t)).tensor.index()];
  return absent;
}

TensorId source_of(const Graph& graph, const Copy& copy) {
  if (copy.when.kind != CopyMoment::Kind::before_op) return copy.tensor;
  const Op& op = graph.op(copy.when.op);
  if (op.contiguous_outputs != Contiguity::packed) return copy.tensor;
  if (std::find(op.outputs.begin(), op.outputs.end(), copy.tensor) == op.outputs.end()) return copy.tensor;
  const auto input =
      std::find_if(op.inputs.begin(), op.inputs.end(), [](const auto& each) { return each.has_value(); });
  return input == op.inputs.end() ? copy.tensor : **input;
}

}  // namespace stowage
