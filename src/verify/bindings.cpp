#include "verify/bindings.hpp"

#include <algorithm>

namespace stowage::verification {
namespace {

/// Properties of all members of a bound tensor's value.
struct Members {
  std::size_t zero_copy = 0;
  std::size_t outputs = 0;
  bool covered = true;  ///< All members lie inside the bound tensor.
  bool aligned = true;  ///< The alignment of the binding satisfies that of every member.
  bool shape_data = false;
};

/// The tensors of the values that bindings name.
using MemberList = std::unordered_map<std::size_t, std::vector<TensorId>>;

MemberList list_members(const Graph& graph, const Plan& plan, const Values& values) {
  MemberList list;
  if (plan.bindings.empty()) return list;
  for (const Binding& binding : plan.bindings) {
    if (binding.tensor.index() < graph.tensors().size()) list[values.of(binding.tensor).index()];
  }
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const auto found = list.find(values.of(TensorId(t)).index());
    if (found != list.end()) found->second.emplace_back(t);
  }
  return list;
}

Members look_at_members(const Graph& graph, const Values& values, const MemberList& list, const Binding& binding) {
  Members result;
  for (const TensorId id : list.at(values.of(binding.tensor).index())) {
    const Tensor& tensor = graph.tensor(id);
    const Bytes offset = values.offset(id) - values.offset(binding.tensor);
    if (tensor.flags.has(TensorFlag::zero_copy)) ++result.zero_copy;
    if (tensor.flags.has(TensorFlag::output)) ++result.outputs;
    result.shape_data |= tensor.flags.has(TensorFlag::shape_data);
    result.covered &= offset >= Bytes(0) && offset + tensor.size <= graph.tensor(binding.tensor).size;
    const Bytes alignment = graph.alignment(id);
    result.aligned &= binding.alignment >= alignment && is_aligned(offset, alignment);
  }
  return result;
}

/// The rule of zero copy that the tensor breaks, as text; null if it may lie in the caller's buffer.
const char* illegal(const Graph& graph, const Value& value, const Tensor& tensor, const Members& members) {
  if (!tensor.flags.has(TensorFlag::zero_copy)) return "is not zero_copy";
  if (!tensor.flags.any_of({TensorFlag::input, TensorFlag::output})) return "is neither input nor output";
  if (value.flags.any_of(kOwnAddress)) return "shares memory with a tensor that has its own address";
  if (!members.covered) return "does not cover all tensors that share its memory";
  if (members.zero_copy > 1) return "shares memory with another zero-copy tensor";
  if (members.outputs > 1) return "shares memory with several outputs";
  if (value.grouped) return "is in a contiguous group";
  if (value.fixed) return "is accessed by an op that needs a fixed address";
  if (value.filled) return "must be filled";
  if (value.passed) return "goes into a body or comes out of one";
  if (members.shape_data && !graph.batches().empty()) return "holds the shapes of a graph with batches";
  if (graph.memory(tensor.memory).kind == "p2p") return "is in p2p memory";
  return nullptr;
}

void check_binding(const Graph& graph, const Values& values, const MemberList& list, const Binding& binding,
                   Findings& findings) {
  const Tensor& tensor = graph.tensor(binding.tensor);
  const Members members = look_at_members(graph, values, list, binding);
  if (const char* const why = illegal(graph, values[values.of(binding.tensor)], tensor, members)) {
    findings.add(Rule::binding, "{} is bound to a caller's buffer, but {}", describe(graph, binding.tensor), why);
  }
  if (binding.size != tensor.size) {
    findings.add(Rule::size, "{} has {} bytes, but its binding has {}", describe(graph, binding.tensor),
                 tensor.size.value(), binding.size.value());
  }
  const bool power = binding.alignment > Bytes(0) && (binding.alignment.value() & (binding.alignment.value() - 1)) == 0;
  if (power && members.aligned) return;
  findings.add(Rule::alignment, "the binding of {} requires the alignment {}, which is not sufficient",
               describe(graph, binding.tensor), binding.alignment.value());
}

/// Why the buffer of `tensor` must not host other tensors, as text; null if it may.
const char* bad_host(const Graph& graph, const Arena& arena, const Tensor& tensor) {
  if (!tensor.flags.has(TensorFlag::reusable)) return "is not reusable";
  if (arena.memory != tensor.memory) return "is in another memory";
  if (arena.regions.size() != 1 || arena.regions.front() != tensor.size) return "has a different size";
  return graph.memory(tensor.memory).kind == "p2p" ? "is in p2p memory" : nullptr;
}

}  // namespace

Bindings::Bindings(const Graph& graph, const Plan& plan, const Values& values, Findings& findings) {
  const MemberList list = list_members(graph, plan, values);
  for (std::size_t i = 0; i < plan.bindings.size() && !findings.full(); ++i) {
    const Binding& binding = plan.bindings[i];
    if (binding.tensor.index() >= graph.scopes().front().tensor_count) {
      findings.add(Rule::reference, "binding {} names tensor {}, which does not exist", i, binding.tensor.index());
      continue;
    }
    check_binding(graph, values, list, binding, findings);
    const auto [entry, is_new] =
        bound_.emplace(values.of(binding.tensor).index(), Bound{binding.tensor, binding.alignment, {}});
    if (!is_new) {
      findings.add(Rule::reference, "{} is bound, but {}, which shares its memory, is bound too",
                   describe(graph, binding.tensor), describe(graph, entry->second.tensor));
    }
  }
  read_arenas(graph, plan, values, findings);
}

void Bindings::read_arenas(const Graph& graph, const Plan& plan, const Values& values, Findings& findings) {
  for (std::size_t a = 0; a < plan.arenas.size() && !findings.full(); ++a) {
    const Arena& arena = plan.arenas[a];
    if (arena.kind != ArenaKind::user) {
      if (arena.tensor)
        findings.add(Rule::arena, "{} is not a user arena, but names a tensor", describe(plan, ArenaId(a)));
      continue;
    }
    if (!arena.tensor || arena.tensor->index() >= graph.scopes().front().tensor_count) {
      findings.add(Rule::reference, "{} is a user arena, but names no tensor that exists", describe(plan, ArenaId(a)));
      continue;
    }
    const auto found = bound_.find(values.of(*arena.tensor).index());
    if (found == bound_.end() || found->second.tensor != *arena.tensor || found->second.arena) {
      findings.add(Rule::binding, "{} is the buffer of {}, which {}", describe(plan, ArenaId(a)),
                   describe(graph, *arena.tensor),
                   found != bound_.end() && found->second.arena ? "already has an arena" : "is not bound");
      continue;
    }
    found->second.arena = ArenaId(a);
    hosts_.emplace(a, found->first);
    if (const char* const why = bad_host(graph, arena, graph.tensor(*arena.tensor))) {
      findings.add(Rule::binding, "{} is the buffer of {}, which {}", describe(plan, ArenaId(a)),
                   describe(graph, *arena.tensor), why);
    }
  }
}

const Bindings::Bound* Bindings::host(ArenaId arena) const {
  const auto found = hosts_.find(arena.index());
  return found == hosts_.end() ? nullptr : &bound_.at(found->second);
}

}  // namespace stowage::verification
