#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage::verification {

using ValueId = Id<struct ValueList>;

/// Before every op.
inline constexpr Step kStart{-1};

/// Something in memory that has a life: the content of a workspace, or of tensors at fixed distances from each other.
/// Such tensors are views, mandatory aliases, the inputs of a body with their outer tensors, and a loop's result with
/// the incoming value.
struct Value {
  TensorFlags flags = {};  ///< The union of its members' flags; also no_reuse if an op requires it.
  Step begin = kNever;     ///< The step from which on it owns its bytes, or kStart.
  Step end = kStart;       ///< The last step that needs them; kNever: the caller needs them after the run.
  ScopeId home = {};       ///< Its scope: it begins again each time this scope is entered.
  std::optional<RingId> ring = {};
  bool accessed = false;
  bool session = false;  ///< A workspace that is kept across graphs.
  bool fixed = false;    ///< An op that needs fixed addresses accesses it.
  bool filled = false;   ///< Some of it must be filled before an op.
  bool grouped = false;  ///< A member is in a contiguous group, or is the whole of one.
  bool handed = false;   ///< A body's end or a loop reads or writes it, even where no op does.
  bool passed = false;   ///< It goes into a body or comes out of one.

  [[nodiscard]] bool external() const { return flags.has(TensorFlag::external); }
  [[nodiscard]] bool persistent() const {
    return !external() && flags.any_of({TensorFlag::constant, TensorFlag::variable});
  }
  /// Whether it needs our memory or a caller's. (A persistent value begins and never ends, even if nobody accesses it.)
  [[nodiscard]] bool in_use() const { return begin != kNever && !external(); }
};

/// All values of a graph, and when each is needed. The id of a value is that of one of its tensors; workspaces have the
/// ids after these.
class Values {
 public:
  Values(const Graph& graph, bool keep_inputs);

  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] ValueId of(TensorId tensor) const { return ValueId(value_of_[tensor.index()]); }
  /// The offset of the tensor in its value, comparable with those of the other members.
  [[nodiscard]] Bytes offset(TensorId tensor) const { return offset_[tensor.index()]; }
  [[nodiscard]] ValueId of(OpId op, std::size_t workspace) const {
    return ValueId(first_workspace_[op.index()] + workspace);
  }
  [[nodiscard]] const Value& operator[](ValueId id) const { return values_[id.index()]; }

  /// The op at a step of the execution order: the root's ops, each followed by those of its bodies.
  [[nodiscard]] OpId op_at(Step step) const { return sequence_[static_cast<std::size_t>(step.value())]; }
  [[nodiscard]] std::size_t steps() const { return sequence_.size(); }

 private:
  struct Root {
    std::uint32_t tensor;
    Bytes offset;
  };

  void join(const Graph& graph);
  void join_bodies(const Graph& graph);
  void link(TensorId inner, TensorId outer, Bytes offset);
  Root find(std::uint32_t tensor);
  void put_in_order(const Graph& graph, ScopeId scope);
  void collect_flags(const Graph& graph);
  void collect_uses(const Graph& graph, OpId id);
  void collect_groups(const Graph& graph, OpId id);
  void collect_bodies(const Graph& graph);
  void touch(std::size_t value, Step step);
  void settle(Value& value, Step unread_end, bool keep_inputs);

  std::vector<std::uint32_t> value_of_;       ///< By tensor.
  std::vector<Bytes> offset_;                 ///< By tensor: relative to the tensor value_of_.
  std::vector<std::size_t> first_workspace_;  ///< By op.
  std::vector<Value> values_;
  std::vector<OpId> sequence_;
};

/// Whether `inner`, an input of a body, is a value that its loop carries.
[[nodiscard]] bool is_carried(const Scope& scope, TensorId inner);

}  // namespace stowage::verification
