#include "graph/validation.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace stowage::validation {
namespace {

/// More streams than any device has; bounds the size of per-stream tables for any input file.
constexpr std::size_t kMaxStreams = 1024;
constexpr std::size_t kMaxName = std::size_t{1} << 14;

Error fault(std::string path, std::string message) {
  return Error{ErrorCode::invalid, std::move(message), {.file = {}, .line = {}, .path = std::move(path)}};
}

std::string name_tensor(const GraphDescription& graph, TensorId id) { return describe(graph.tensors[id.index()], id); }
std::string name_op(const GraphDescription& graph, std::size_t index) {
  return describe(graph.ops[index], OpId(index));
}

/// What an error is about, as text. Checks take a function that makes it, because for a graph of a thousand ops
/// formatting the text would cost ten times as much as the checks.
struct Subject {
  std::string path;
  std::string who;
};

template <class MakeSubject>
Status check_size(Bytes size, const MakeSubject& subject) {
  if (size >= Bytes(0) && size <= kMaxBytes) return Done{};
  const auto [path, who] = subject();
  if (size < Bytes(0)) return fault(path + ".size", fmt::format("{} has the negative size {}", who, size.value()));
  return fault(path + ".size", fmt::format("{} has the size {}, above the limit of 2^62", who, size.value()));
}

template <class MakeSubject>
Status check_alignment(Bytes alignment, const MakeSubject& subject) {
  if (is_power_of_two(alignment) && alignment <= Bytes(std::int64_t{1} << 40)) return Done{};
  const auto [path, who] = subject();
  return fault(path + ".alignment",
               fmt::format("{} has the alignment {}, which is not a power of two up to 2^40", who, alignment.value()));
}

/// Adds sizes, each rounded up to its alignment, and fails when the sum leaves the accepted range.
class Total {
 public:
  /// An error is reported at `field` of the subject.
  template <class MakeSubject>
  Status add(Bytes size, Bytes alignment, const char* field, const MakeSubject& subject) {
    const std::optional<Bytes> padded = add_within_limit(size, alignment);
    const std::optional<Bytes> sum = padded ? add_within_limit(sum_, *padded) : std::nullopt;
    if (!sum) {
      const auto [path, who] = subject();
      return fault(path + field, fmt::format("with {} the sizes sum to more than the limit of 2^62 bytes", who));
    }
    sum_ = *sum;
    return Done{};
  }

 private:
  Bytes sum_;
};

/// Names are repeated wherever a report mentions a tensor or op.
Status check_names(const GraphDescription& graph) {
  const auto check = [](const auto& list, const char* path, const char* word) -> Status {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].name.size() <= kMaxName) continue;
      return fault(fmt::format("{}[{}].name", path, i),
                   fmt::format("the name of {} {} has {} bytes, more than {}", word, i, list[i].name.size(), kMaxName));
    }
    return Done{};
  };
  STOWAGE_TRY_STATUS(check(graph.tensors, "tensors", "tensor"));
  return check(graph.ops, "ops", "op");
}

Status check_memories(const GraphDescription& graph) {
  for (std::size_t i = 0; i < graph.memories.size(); ++i) {
    const Memory& memory = graph.memories[i];
    const auto subject = [&] {
      return Subject{fmt::format("memories[{}]", i), fmt::format("memory '{}' ({})", memory.name, i)};
    };
    STOWAGE_TRY_STATUS(check_alignment(memory.alignment, subject));
    if (memory.max_size && (*memory.max_size <= Bytes(0) || *memory.max_size > kMaxBytes)) {
      const auto [path, who] = subject();
      return fault(path + ".max_size", fmt::format("{} has the maximum size {}, which is not from 1 to 2^62", who,
                                                   memory.max_size->value()));
    }
  }
  return Done{};
}

Status check_tensor_sizes(const GraphDescription& graph, Total& total) {
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    const auto subject = [&] { return Subject{fmt::format("tensors[{}]", i), describe(tensor, TensorId(i))}; };
    STOWAGE_TRY_STATUS(check_size(tensor.size, subject));
    if (tensor.memory.index() >= graph.memories.size()) {
      const auto [path, who] = subject();
      return fault(path + ".memory",
                   fmt::format("{} is in memory {}, which does not exist", who, tensor.memory.index()));
    }
    if (tensor.alignment) STOWAGE_TRY_STATUS(check_alignment(*tensor.alignment, subject));
    const Bytes alignment = tensor.alignment.value_or(graph.memories[tensor.memory.index()].alignment);
    STOWAGE_TRY_STATUS(total.add(tensor.size, alignment, ".size", subject));
  }
  return Done{};
}

Status check_workspace_sizes(const GraphDescription& graph, Total& total) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    for (std::size_t w = 0; w < graph.ops[i].workspaces.size(); ++w) {
      const Workspace& workspace = graph.ops[i].workspaces[w];
      const auto subject = [&] {
        return Subject{fmt::format("ops[{}].workspaces[{}]", i, w),
                       fmt::format("workspace {} of {}", w, name_op(graph, i))};
      };
      STOWAGE_TRY_STATUS(check_size(workspace.size, subject));
      if (workspace.memory.index() >= graph.memories.size()) {
        const auto [path, who] = subject();
        return fault(path + ".memory",
                     fmt::format("{} is in memory {}, which does not exist", who, workspace.memory.index()));
      }
      if (workspace.alignment) STOWAGE_TRY_STATUS(check_alignment(*workspace.alignment, subject));
      const Bytes alignment = workspace.alignment.value_or(graph.memories[workspace.memory.index()].alignment);
      STOWAGE_TRY_STATUS(total.add(workspace.size, alignment, ".size", subject));
    }
  }
  return Done{};
}

/// Aliases may make a class larger than its members, so their offsets count like sizes.
Status check_alias_offsets(const GraphDescription& graph, Total& total) {
  for (std::size_t k = 0; k < graph.ops.size(); ++k) {
    for (std::size_t i = 0; i < graph.ops[k].aliases.size(); ++i) {
      const Bytes offset = graph.ops[k].aliases[i].offset;
      const auto subject = [&] {
        return Subject{fmt::format("ops[{}].alias[{}]", k, i),
                       fmt::format("the offset {} of an alias of {}", offset.value(), name_op(graph, k))};
      };
      if (offset < Bytes(0) || offset > kMaxBytes)
        return fault(subject().path, subject().who + " is not within [0, 2^62]");
      STOWAGE_TRY_STATUS(total.add(offset, Bytes(0), "", subject));
    }
  }
  return Done{};
}

Status check_view_base(const GraphDescription& graph, std::size_t index) {
  const Tensor& view = graph.tensors[index];
  if (view.view_of->tensor.index() < graph.tensors.size()) return Done{};
  return fault(fmt::format("tensors[{}].view_of.tensor", index),
               fmt::format("{} is a view of tensor {}, which does not exist", describe(view, TensorId(index)),
                           view.view_of->tensor.index()));
}

Status check_view(const GraphDescription& graph, std::size_t index) {
  const Tensor& view = graph.tensors[index];
  const auto subject = [&] {
    return Subject{fmt::format("tensors[{}].view_of", index), describe(view, TensorId(index))};
  };
  const Tensor& base = graph.tensors[view.view_of->tensor.index()];
  const Bytes offset = view.view_of->offset;
  const bool outside = offset < Bytes(0) || offset > base.size || view.size > base.size - offset;
  if (!outside && base.memory == view.memory) return Done{};
  const auto [path, who] = subject();
  const std::string base_name = name_tensor(graph, view.view_of->tensor);
  if (outside) {
    return fault(path, fmt::format("{} [{}, {} + {}) is a view outside its base {} of {} bytes", who, offset.value(),
                                   offset.value(), view.size.value(), base_name, base.size.value()));
  }
  return fault(path, fmt::format("{} is in memory {}, but its base {} is in memory {}", who, view.memory.index(),
                                 base_name, base.memory.index()));
}

/// The chain of views from `index` up to a tensor whose root is known; empty if it is circular.
std::vector<std::size_t> unresolved_chain(const GraphDescription& graph,
                                          const std::vector<std::optional<ViewOf>>& roots, std::size_t index) {
  std::vector<std::size_t> chain;
  while (!roots[index]) {
    if (chain.size() > graph.tensors.size()) return {};
    chain.push_back(index);
    index = graph.tensors[index].view_of->tensor.index();
  }
  return chain;
}

/// A view lies in its base, so it cannot have its own address.
Status check_view_flags(const GraphDescription& graph, std::size_t index, ViewOf root) {
  const Tensor& view = graph.tensors[index];
  const TensorFlags base = graph.tensors[root.tensor.index()].flags;
  for (const TensorFlag flag : {TensorFlag::constant, TensorFlag::variable, TensorFlag::external}) {
    if (!view.flags.has(flag) || base.has(flag)) continue;
    return fault(fmt::format("tensors[{}].flags", index),
                 fmt::format("{} is constant, variable or external, but its base {} is not",
                             describe(view, TensorId(index)), name_tensor(graph, root.tensor)));
  }
  return Done{};
}

/// A view with an alignment must lie at a multiple of it, counted from its root.
Status check_view_alignment(const GraphDescription& graph, std::size_t index, ViewOf root) {
  const Tensor& view = graph.tensors[index];
  if (!view.alignment || is_aligned(root.offset, *view.alignment)) return Done{};
  return fault(fmt::format("tensors[{}].alignment", index),
               fmt::format("{} lies {} bytes into {}, which is not a multiple of its alignment {}",
                           describe(view, TensorId(index)), root.offset.value(), name_tensor(graph, root.tensor),
                           view.alignment->value()));
}

Status check_op_tensors(const GraphDescription& graph, std::size_t index) {
  const Op& op = graph.ops[index];
  const auto unknown = [&](const char* list, std::size_t position, TensorId id) {
    return fault(fmt::format("ops[{}].{}[{}]", index, list, position),
                 fmt::format("{} names tensor {}, which does not exist", name_op(graph, index), id.index()));
  };
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i] && op.inputs[i]->index() >= graph.tensors.size()) return unknown("inputs", i, *op.inputs[i]);
  }
  std::unordered_set<TensorId> seen;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (op.outputs[i].index() >= graph.tensors.size()) return unknown("outputs", i, op.outputs[i]);
    if (!seen.insert(op.outputs[i]).second) {
      return fault(
          fmt::format("ops[{}].outputs[{}]", index, i),
          fmt::format("{} lists {} as output twice", name_op(graph, index), name_tensor(graph, op.outputs[i])));
    }
  }
  return Done{};
}

/// Checks that the positions of pair `at` in the op's `list` exist.
Status check_pair(const GraphDescription& graph, std::size_t index, InPlacePair pair, const char* list,
                  std::size_t at) {
  const Op& op = graph.ops[index];
  if (pair.output < op.outputs.size() && pair.input < op.inputs.size() && op.inputs[pair.input]) return Done{};
  const std::string path = fmt::format("ops[{}].{}[{}]", index, list, at);
  if (pair.output >= op.outputs.size()) {
    return fault(path, fmt::format("{} has no output {}", name_op(graph, index), pair.output));
  }
  if (pair.input >= op.inputs.size())
    return fault(path, fmt::format("{} has no input {}", name_op(graph, index), pair.input));
  return fault(path, fmt::format("{} pairs output {} with input {}, which is omitted", name_op(graph, index),
                                 pair.output, pair.input));
}

Status check_op_order(const GraphDescription& graph, std::size_t index) {
  const Op& op = graph.ops[index];
  if (op.stream.index() >= kMaxStreams) {
    return fault(fmt::format("ops[{}].stream", index),
                 fmt::format("{} is on stream {}; at most {} streams are possible", name_op(graph, index),
                             op.stream.index(), kMaxStreams));
  }
  for (std::size_t i = 0; i < op.after.size(); ++i) {
    if (op.after[i].index() < index) continue;
    const std::string path = fmt::format("ops[{}].after[{}]", index, i);
    if (op.after[i].index() >= graph.ops.size()) {
      return fault(path,
                   fmt::format("{} names op {}, which does not exist", name_op(graph, index), op.after[i].index()));
    }
    return fault(path, fmt::format("{} must come after {}, which does not come earlier in the execution order: a cycle",
                                   name_op(graph, index), name_op(graph, op.after[i].index())));
  }
  return Done{};
}

/// Who wrote each tensor, while walking the ops in order.
struct Writes {
  std::vector<std::optional<std::size_t>> producer;  ///< By tensor; the whole graph.
  std::vector<bool> defined;                         ///< By root tensor; up to the current op.
};

Result<Writes> find_producers(const GraphDescription& graph, const std::vector<ViewOf>& roots) {
  Writes writes{std::vector<std::optional<std::size_t>>(graph.tensors.size()), std::vector<bool>(graph.tensors.size())};
  for (std::size_t k = 0; k < graph.ops.size(); ++k) {
    for (std::size_t i = 0; i < graph.ops[k].outputs.size(); ++i) {
      const TensorId id = graph.ops[k].outputs[i];
      const TensorFlags root_flags = graph.tensors[roots[id.index()].tensor.index()].flags;
      const auto path = [&] { return fmt::format("ops[{}].outputs[{}]", k, i); };
      std::optional<std::size_t>& producer = writes.producer[id.index()];
      if (producer && !root_flags.has(TensorFlag::variable)) {
        return fault(path(), fmt::format("{} is written by {} and by {}", name_tensor(graph, id),
                                         name_op(graph, *producer), name_op(graph, k)));
      }
      if (!producer) producer = k;
      const bool constant = (root_flags | graph.tensors[id.index()].flags).has(TensorFlag::constant);
      if (constant && !graph.ops[k].no_task) {
        return fault(path(), fmt::format("{} writes {}, which is constant", name_op(graph, k), name_tensor(graph, id)));
      }
    }
  }
  constexpr TensorFlags kDefinedByTheCaller = kOwnAddress | TensorFlag::input;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].flags.any_of(kDefinedByTheCaller)) writes.defined[roots[i].tensor.index()] = true;
  }
  return writes;
}

Status check_reads(const GraphDescription& graph, const std::vector<ViewOf>& roots, const Writes& writes,
                   std::size_t index) {
  const Op& op = graph.ops[index];
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.inputs[i]) continue;
    const TensorId id = *op.inputs[i];
    const TensorFlags flags = graph.tensors[roots[id.index()].tensor.index()].flags;
    const std::optional<std::size_t> producer = writes.producer[id.index()];
    const bool later = producer && *producer > index &&
                       !(flags | graph.tensors[id.index()].flags).any_of(kOwnAddress | TensorFlag::input);
    // A root that is an input of its own producer (ggml_cast lists itself) has not been written at that point either.
    if (later || !writes.defined[roots[id.index()].tensor.index()]) {
      const std::string by = producer ? fmt::format("; it is written by {}", name_op(graph, *producer))
                                      : "; no op writes it and it is not an input";
      return fault(fmt::format("ops[{}].inputs[{}]", index, i),
                   fmt::format("{} reads {} before anything was written to it{}", name_op(graph, index),
                               name_tensor(graph, id), by));
    }
  }
  return Done{};
}

}  // namespace

Status check_sizes(const GraphDescription& description) {
  constexpr std::size_t kMaxCount = std::numeric_limits<std::uint32_t>::max();
  if (std::max({description.tensors.size(), description.ops.size(), description.memories.size()}) >= kMaxCount) {
    return fault("", "more than 2^32 - 2 tensors, ops or memories");
  }
  STOWAGE_TRY_STATUS(check_names(description));
  STOWAGE_TRY_STATUS(check_memories(description));
  Total total;
  STOWAGE_TRY_STATUS(check_tensor_sizes(description, total));
  STOWAGE_TRY_STATUS(check_workspace_sizes(description, total));
  return check_alias_offsets(description, total);
}

Result<std::vector<ViewOf>> resolve_views(const GraphDescription& description) {
  const std::size_t count = description.tensors.size();
  std::vector<std::optional<ViewOf>> known(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (description.tensors[i].view_of) {
      STOWAGE_TRY_STATUS(check_view(description, i));
    } else {
      known[i] = ViewOf{TensorId(i), Bytes(0)};
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (known[i]) continue;
    std::vector<std::size_t> chain = unresolved_chain(description, known, i);
    if (chain.empty()) {
      return fault(fmt::format("tensors[{}].view_of", i),
                   fmt::format("{} is a view of itself", name_tensor(description, TensorId(i))));
    }
    for (; !chain.empty(); chain.pop_back()) {
      const ViewOf& view = *description.tensors[chain.back()].view_of;
      const ViewOf base = *known[view.tensor.index()];
      known[chain.back()] = ViewOf{base.tensor, base.offset + view.offset};
    }
  }
  std::vector<ViewOf> roots;
  roots.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    STOWAGE_TRY_STATUS(check_view_alignment(description, i, *known[i]));
    STOWAGE_TRY_STATUS(check_view_flags(description, i, *known[i]));
    roots.push_back(*known[i]);
  }
  return roots;
}

namespace {

Status check_scope_references(const GraphDescription& description) {
  for (std::size_t i = 0; i < description.tensors.size(); ++i) {
    if (description.tensors[i].view_of) STOWAGE_TRY_STATUS(check_view_base(description, i));
  }
  for (std::size_t k = 0; k < description.ops.size(); ++k) {
    const Op& op = description.ops[k];
    STOWAGE_TRY_STATUS(check_op_tensors(description, k));
    for (std::size_t i = 0; i < op.in_place.size(); ++i) {
      STOWAGE_TRY_STATUS(check_pair(description, k, op.in_place[i], "in_place", i));
    }
    for (std::size_t i = 0; i < op.aliases.size(); ++i) {
      const InPlacePair pair{op.aliases[i].output, op.aliases[i].input};
      STOWAGE_TRY_STATUS(check_pair(description, k, pair, "alias", i));
    }
    STOWAGE_TRY_STATUS(check_op_order(description, k));
  }
  return Done{};
}

}  // namespace

Error fault_at(std::string path, std::string message) { return fault(std::move(path), std::move(message)); }

Status check_references(const GraphDescription& scope, const std::string& prefix) {
  Status status = check_scope_references(scope);
  if (!status) status.error().where.path.insert(0, prefix);
  return status;
}

Status check_dataflow(const GraphDescription& description, const std::vector<ViewOf>& roots,
                      const std::vector<Scope>& scopes) {
  STOWAGE_TRY(Writes writes, find_producers(description, roots));
  for (const Scope& scope : scopes) {
    for (const BodyInput& pair : scope.inputs) writes.defined[roots[pair.inner.index()].tensor.index()] = true;
  }
  for (std::size_t k = 0; k < description.ops.size(); ++k) {
    const Op& op = description.ops[k];
    STOWAGE_TRY_STATUS(check_reads(description, roots, writes, k));
    const auto define = [&](TensorId id) { writes.defined[roots[id.index()].tensor.index()] = true; };
    // A reshape writes nothing, but from here on its output is defined through the alias.
    for (const Alias& alias : op.aliases) define(op.outputs[alias.output]);
    if (!op.no_task) std::for_each(op.outputs.begin(), op.outputs.end(), define);
  }
  return Done{};
}

}  // namespace stowage::validation
