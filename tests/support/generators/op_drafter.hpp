#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "support/generators/scope_draft.hpp"

namespace stowage::testing {

/// Draws ops into a scope.
class OpDrafter {
 public:
  explicit OpDrafter(ScopeDraft& scope) : scope_(scope), dice_(scope.world().dice), options_(scope.world().options) {}

  /// Values that exist before the first op, and buffers that ops write only in parts.
  void add_given_tensors();
  /// Adds one op of any kind; none if the drawn kind is not possible.
  void add_op();
  /// An op that writes a new tensor of that size, reading some of what is there and, if given, `input` with a pair for
  /// it.
  TensorId add_producer(Bytes size, MemoryId memory, std::optional<TensorId> input = {});

 private:
  friend class BodyDrafter;

  // ---------------------------------------------------------------------------------------------------------- tensors
  TensorId add_root(TensorFlags flags, std::optional<Bytes> size = {}, std::optional<MemoryId> memory = {});
  TensorId add_result(const Op& op, std::optional<Bytes> size = {}, std::optional<MemoryId> memory = {});
  [[nodiscard]] TensorFlags result_flags();
  [[nodiscard]] TensorFlags input_flags();
  void add_simple_flags(TensorFlags& flags, TensorConstraint::Where where);
  std::optional<TensorId> pick(const std::vector<TensorId>& choice);
  std::optional<TensorId> pick_if(const std::function<bool(TensorId)>& accept);
  std::optional<TensorId> pick_readable(const Op& op);
  std::vector<TensorId> pick_members(const Op& op);
  TensorId view_of(TensorId base);

  // -------------------------------------------------------------------------------------------------------------- ops
  [[nodiscard]] Op new_op(const char* kind);
  void add_reshape();
  void add_task();
  void add_inputs(Op& op);
  void add_output(Op& op);
  void alias_output(Op& op, std::uint32_t input);
  void make_idle(Op& op);
  void add_pairs(Op& op);
  void add_workspaces(Op& op);
  void add_fill(Op& op);
  void add_random_after(Op& op);
  OpId commit(Op op);

  // ----------------------------------------------------------------------------------------------------------- groups
  void add_group();
  void add_padded_inputs();
  void add_padded_outputs();
  void add_collective();
  bool reduce_group(Op op);
  void add_refs();
  void add_concat();
  void add_split();
  void mark_packed(TensorId id) { scope_.family(id).packed = true; }
  void commit_group(Op op);

  void add_prefetch();
  void take_range(RingId pool, TensorId tensor);

  ScopeDraft& scope_;
  Dice& dice_;
  const ConstrainedGraphOptions& options_;
};

}  // namespace stowage::testing
