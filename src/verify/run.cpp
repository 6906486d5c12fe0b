#include "verify/run.hpp"

namespace stowage::verification {

Run::Run(const Case& input, std::string_view batch) : graph_(input.graph), batch_(batch) {
  if (!graph_.batches().empty()) find_absent(input.values);
  find_accessed(input.values);
  if (graph_.stream_count() == 1) return;
  for (std::uint32_t k = 0; k < graph_.scopes().front().op_count; ++k) {
    if (graph_.ops()[k].no_task || !is_active(OpId(k))) continue;
    first_task_ = k;
    return;
  }
}

void Run::find_absent(const Values& values) {
  const std::size_t tensors = graph_.tensors().size();
  std::vector<std::uint8_t> written(tensors);
  absent_.resize(tensors);
  for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
    for (const TensorId output : graph_.ops()[k].outputs) {
      const std::size_t root = graph_.root(output).tensor.index();
      absent_[root] = 1;
      if (is_active(OpId(k))) written[root] = 1;
    }
  }
  for (std::size_t t = 0; t < tensors; ++t) {
    const bool there = values[values.of(TensorId(t))].flags.any_of(kOwnAddress | TensorFlag::input);
    if (written[t] != 0 || there) absent_[t] = 0;
  }
  for (const Scope& scope : graph_.scopes()) {
    for (const BodyInput& pair : scope.inputs) absent_[pair.inner.index()] = is_absent(pair.outer) ? 1 : 0;
  }
}

void Run::find_accessed(const Values& values) {
  accessed_.resize(values.size());
  std::vector<std::uint8_t> entered(graph_.scopes().size());
  entered[0] = 1;
  for (std::size_t s = 0; s < graph_.scopes().size(); ++s) {
    const Scope& scope = graph_.scopes()[s];
    if (s > 0) entered[s] = entered[scope.parent.index()] != 0 && is_active(scope.op) ? 1 : 0;
    for (std::size_t i = 0; i < scope.op_count && entered[s] != 0; ++i) {
      const OpId id(scope.first_op.index() + i);
      const Op& op = graph_.op(id);
      if (op.no_task || !is_active(id)) continue;
      for (const std::optional<TensorId>& input : op.inputs) {
        if (input && !is_absent(*input)) accessed_[values.of(*input).index()] = 1;
      }
      for (const TensorId output : op.outputs) accessed_[values.of(output).index()] = 1;
      for (std::size_t w = 0; w < op.workspaces.size(); ++w) accessed_[values.of(id, w).index()] = 1;
    }
  }
}

}  // namespace stowage::verification
