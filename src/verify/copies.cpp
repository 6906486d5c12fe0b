#include "verify/copies.hpp"

namespace stowage::verification {
namespace {

/// The rules for one copy by itself.
void check_copy(const Graph& graph, const Plan& plan, const std::string& who, const CopyEntry& entry, const std::string& reason,
                Findings& findings) {
  const Tensor& tensor = graph.tensor(entry.tensor);
  if (reason.empty()) findings.add(Rule::copy, "{} of {} gives no reason", who, describe(graph, entry.tensor));
  if (entry.to.size != tensor.size) {
    findings.add(Rule::size, "{} has {} bytes, but {} has {}", who, entry.to.size.value(), describe(graph, entry.tensor),
                 tensor.size.value());
  }
  if (!entry.exists()) return;
  const Arena& arena = plan.arenas[entry.to.arena.index()];
  if (arena.memory != tensor.memory) {
    findings.add(Rule::arena, "{} of {} goes from memory {} to {} of memory {}", who, describe(graph, entry.tensor),
                 tensor.memory.index(), describe(plan, entry.to.arena), arena.memory.index());
  }
  const std::optional<ByteRange> bytes = range_at(entry.to.offset, tensor.size);
  const Bytes top = arena.regions[entry.to.region];
  if (bytes && bytes->lower >= Bytes(0) && bytes->upper <= top) return;
  findings.add(Rule::bounds, "{} of {}, {} bytes {}, lies outside [0, {})", who, describe(graph, entry.tensor),
               tensor.size.value(), describe(plan, entry.to), top.value());
}

}  // namespace

Copies::Copies(const Graph& graph, const Plan& plan, const Cells& cells, Findings& findings) : entries_(plan.copies.size()) {
  for (std::uint32_t i = 0; i < plan.copies.size() && !findings.full(); ++i) {
    const Copy& copy = plan.copies[i];
    const std::string who = fmt::format("copy {}", i);
    CopyEntry& entry = entries_[i];
    if (!read(graph, copy, who, entry, findings)) continue;
    cells.resolve(plan, who, entry.to, findings);
    check_copy(graph, plan, who, entry, copy.reason, findings);
    if (entry.exists()) by_point_[{entry.scope, entry.before}].push_back(i);
  }
}

bool Copies::read(const Graph& graph, const Copy& copy, const std::string& who, CopyEntry& entry, Findings& findings) {
  const std::optional<ScopeId> scope = scope_of_entry(graph, copy.body, who, findings);
  if (!scope) return false;
  const Scope& in = graph.scope(*scope);
  if (copy.tensor.index() >= in.tensor_count) {
    findings.add(Rule::reference, "{} names tensor {}, which does not exist", who, copy.tensor.index());
    return false;
  }
  const bool in_body = *scope != ScopeId(0);
  const std::int64_t last = static_cast<std::int64_t>(in.op_count) - (in_body ? 0 : 1);
  if (copy.before > last || copy.before < (in_body ? Copy::kBackEdge : 0)) {
    findings.add(Rule::reference, "{} is before op {}, which does not exist", who, copy.before);
    return false;
  }
  entry.tensor = TensorId(in.first_tensor.index() + copy.tensor.index());
  entry.scope = *scope;
  entry.before = copy.before;
  entry.to = {copy.arena, copy.region, copy.offset, copy.size, {}};
  return true;
}

std::span<const std::uint32_t> Copies::at(ScopeId scope, std::int64_t before) const {
  const auto found = by_point_.find({scope, before});
  if (found == by_point_.end()) return {};
  return found->second;
}

std::span<const std::uint32_t> Copies::at(const Graph& graph, OpId op) const {
  if (by_point_.empty()) return {};
  const ScopeId scope = graph.scope_of(op);
  return at(scope, static_cast<std::int64_t>(op.index() - graph.scope(scope).first_op.index()));
}

}  // namespace stowage::verification
