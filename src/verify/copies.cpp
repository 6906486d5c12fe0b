#include "verify/copies.hpp"

#include <algorithm>

namespace stowage::verification {
namespace {

/// The rules for a single copy.
void check_copy(const Graph& graph, const Plan& plan, const std::string& who, const CopyEntry& entry,
                const std::string& reason, Findings& findings) {
  const Tensor& tensor = graph.tensor(entry.tensor);
  if (reason.empty()) findings.add(Rule::copy, "{} of {} gives no reason", who, describe(graph, entry.tensor));
  if (entry.to.size != tensor.size) {
    findings.add(Rule::size, "{} has {} bytes, but {} has {}", who, entry.to.size.value(),
                 describe(graph, entry.tensor), tensor.size.value());
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

Copies::Copies(const Graph& graph, const Plan& plan, const Cells& cells, Findings& findings)
    : entries_(plan.copies.size()) {
  for (std::uint32_t i = 0; i < plan.copies.size() && !findings.full(); ++i) {
    const Copy& copy = plan.copies[i];
    const std::string who = fmt::format("copy {}", i);
    CopyEntry& entry = entries_[i];
    if (!read(graph, copy, who, entry, findings)) continue;
    cells.resolve(plan, who, entry.to, findings);
    check_copy(graph, plan, who, entry, copy.reason, findings);
    if (!entry.exists()) continue;
    const bool inside = entry.when.kind != CopyMoment::Kind::before_op;
    by_point_[{inside ? graph.scope_of(entry.tensor) : ScopeId(0), entry.when}].push_back(i);
  }
}

bool Copies::read(const Graph& graph, const Copy& copy, const std::string& who, CopyEntry& entry, Findings& findings) {
  if (copy.tensor.index() >= graph.tensors().size()) {
    findings.add(Rule::reference, "{} names tensor {}, which does not exist", who, copy.tensor.index());
    return false;
  }
  const ScopeId scope = graph.scope_of(copy.tensor);
  if (copy.when.kind == CopyMoment::Kind::before_op) {
    if (copy.when.op.index() >= graph.ops().size()) {
      findings.add(Rule::reference, "{} is before op {}, which does not exist", who, copy.when.op.index());
      return false;
    }
    if (graph.scope_of(copy.when.op) != scope) {
      findings.add(Rule::reference, "{} is before {}, which is not in the same scope as {}", who,
                   describe(graph, copy.when.op), describe(graph, copy.tensor));
      return false;
    }
  } else if (scope == ScopeId(0)) {
    findings.add(Rule::reference, "{} is at the end of a body, but {} is in no body", who,
                 describe(graph, copy.tensor));
    return false;
  }
  entry.tensor = copy.tensor;
  entry.when = copy.when;
  entry.to = {copy.arena, copy.region, copy.offset, copy.size, {}};
  return true;
}

TensorId Copies::source(const Graph& graph, std::uint32_t index) const {
  const CopyEntry& copy = entries_[index];
  if (copy.role != CopyRole::split_part) return copy.tensor;
  const Op& op = graph.op(copy.when.op);
  return **std::find_if(op.inputs.begin(), op.inputs.end(), [](const auto& input) { return input.has_value(); });
}

std::span<const std::uint32_t> Copies::before(OpId op) const { return find({ScopeId(0), CopyMoment::before(op)}); }

std::span<const std::uint32_t> Copies::find(const Point& point) const {
  const auto found = by_point_.find(point);
  if (found == by_point_.end()) return {};
  return found->second;
}

}  // namespace stowage::verification
