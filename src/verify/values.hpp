#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "verify/order.hpp"

namespace stowage::verification {

using ValueId = Id<struct ValueList>;

/// The accesses of a value by the ops of one stream.
struct Use {
  std::uint32_t stream;
  std::uint32_t next;  ///< The value's next use in `Values::uses`, or kNoUse.
  Step first;
  Step last;
};

inline constexpr std::uint32_t kNoUse = 0xffffffff;

/// What lies in memory and is needed for a while: the content of tensors at fixed distances from each other (views and mandatory
/// aliases), or of a workspace.
struct Value {
  TensorFlags flags = {};  ///< Of all members; no_reuse also where an op says so.
  std::uint32_t first_use = kNoUse;
  Step begin = kNever;  ///< Its bytes are its own from here: an op, or kStart.
  Step end = kStart;    ///< The last op, in execution order, that needs them; kNever: the caller, after the run.

  [[nodiscard]] bool accessed() const { return first_use != kNoUse; }
  [[nodiscard]] bool external() const { return flags.has(TensorFlag::external); }
  [[nodiscard]] bool persistent() const { return !external() && flags.any_of({TensorFlag::constant, TensorFlag::variable}); }
  /// Whether it needs memory of ours. (A persistent value begins and never ends even where nobody touches it.)
  [[nodiscard]] bool in_use() const { return begin != kNever && !external(); }
};

/// All values of a graph, and when each is needed. Values are named by one of their tensors, workspaces by numbers after these.
class Values {
 public:
  Values(const Graph& graph, const Order& order, bool keep_inputs);

  [[nodiscard]] ValueId of(TensorId tensor) const { return ValueId(value_of_[tensor.index()]); }
  [[nodiscard]] ValueId of(OpId op, std::size_t workspace) const { return ValueId(first_workspace_[op.index()] + workspace); }
  [[nodiscard]] const Value& operator[](ValueId id) const { return values_[id.index()]; }

  /// Calls `f(const Use&)` for each stream that touches the value.
  template <class F>
  void for_each_use(const Value& value, F&& f) const {
    for (std::uint32_t at = value.first_use; at != kNoUse; at = uses_[at].next) f(uses_[at]);
  }

 private:
  void join(const Graph& graph);
  void collect_flags(const Graph& graph);
  void collect_accesses(const Graph& graph, const Order& order);
  void touch(std::size_t value, std::uint32_t stream, Step step);
  void settle(Value& value, Step unread_end, bool keep_inputs);
  std::uint32_t find(std::uint32_t tensor);

  std::vector<std::uint32_t> value_of_;       ///< By tensor.
  std::vector<std::size_t> first_workspace_;  ///< By op.
  std::vector<Value> values_;
  std::vector<Use> uses_;
};

}  // namespace stowage::verification
