#include <utility>

#include "rewrite/interface/rewrites.hpp"

namespace stowage::rewrite {
namespace {

/// Calls `change` for each element of a list; returns whether any changed.
template <class List, class Change>
bool each(List&& list, Change change) {
  bool changed = false;
  for (auto& one : list) changed = change(one) || changed;
  return changed;
}

bool drop_flags(Tensor& tensor, TensorFlags flags) { return set(tensor.flags, tensor.flags.without(flags)); }

bool drop_contiguity(Editor& editor, Contiguity kind) {
  return each(editor.ops(), [&](Op& op) {
    const bool inputs = op.contiguous_inputs == kind && set(op.contiguous_inputs, Contiguity::none);
    const bool outputs = op.contiguous_outputs == kind && set(op.contiguous_outputs, Contiguity::none);
    return inputs || outputs;
  });
}

bool drop_outputs(Editor& editor) {
  return each(editor.tensors(), [](Tensor& tensor) {
    return !tensor.flags.has(TensorFlag::zero_copy) && drop_flags(tensor, TensorFlag::output);
  });
}

bool drop_no_reuse(Editor& editor) {
  const bool tensors = each(editor.tensors(), [](Tensor& tensor) { return drop_flags(tensor, TensorFlag::no_reuse); });
  const bool ops = each(editor.ops(), [](Op& op) {
    const bool workspaces = each(op.workspaces, [](Workspace& workspace) { return set(workspace.no_reuse, false); });
    return set(op.no_reuse, false) || workspaces;
  });
  return tensors || ops;
}

bool drop_alignments(Editor& editor) {
  const bool memories = each(editor.memories(), [](Memory& memory) { return set(memory.alignment, Bytes(1)); });
  const bool tensors = each(editor.tensors(), [](Tensor& tensor) { return set(tensor.alignment, {}); });
  const bool ops = each(editor.ops(), [](Op& op) {
    return each(op.workspaces, [](Workspace& workspace) { return set(workspace.alignment, {}); });
  });
  return memories || tensors || ops;
}

bool drop_rings(Editor& editor) {
  const bool dropped = each(editor.ops(), [](Op& op) { return set(op.prefetch, {}); });
  if (dropped) editor.rings().clear();
  return dropped;
}

bool drop_session(Editor& editor) {
  return each(editor.ops(), [](Op& op) {
    return each(op.workspaces, [](Workspace& workspace) { return set(workspace.scope, WorkspaceScope::op); });
  });
}

}  // namespace

bool relax(Editor& editor, Constraint constraint) {
  switch (constraint) {
    case Constraint::padded_groups:
      return drop_contiguity(editor, Contiguity::padded);
    case Constraint::packed_groups:
      return drop_contiguity(editor, Contiguity::packed);
    case Constraint::kept_outputs:
      return drop_outputs(editor);
    case Constraint::no_reuse:
      return drop_no_reuse(editor);
    case Constraint::alignments:
      return drop_alignments(editor);
    case Constraint::streams:
      return each(editor.ops(), [](Op& op) { return set(op.stream, StreamId(0)); });
    case Constraint::largest_buffers:
      return each(editor.memories(), [](Memory& memory) { return set(memory.max_size, {}); });
    case Constraint::batches:
      return each(editor.ops(), [](Op& op) { return set(op.batch, {}); });
    case Constraint::rings:
      return drop_rings(editor);
    case Constraint::session_workspaces:
      return drop_session(editor);
    case Constraint::apart:
      return set(editor.apart(), {});
  }
  return false;
}

bool relax(Editor& editor, bool Op::* flag) {
  return each(editor.ops(), [&](Op& op) { return set(op.*flag, false); });
}

bool relax(Editor& editor, TensorFlags flags) {
  return each(editor.tensors(), [&](Tensor& tensor) { return drop_flags(tensor, flags); });
}

}  // namespace stowage::rewrite
