#pragma once

#include <cstdint>
#include <vector>

#include "lower/duties.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage {

/// Which buffers of the caller a run uses: those with a tensor, workspace or copy that something in it accesses.
class BufferUses {
 public:
  /// O(accesses × batches), or O(bindings) without batches.
  BufferUses(const Graph& graph, const Plan& plan, const Duties& duties);

  /// Whether binding `index` is used in a batch, or in none at all: the caller may still expect it to be checked.
  [[nodiscard]] bool in(std::size_t index, std::uint32_t batch) const { return used_.empty() || used_[index][batch]; }

 private:
  void add_op(OpId op);
  /// `op` accesses the buffer of a binding (given as in `of_tensor_`) in the batches in which it runs and `where`
  /// holds.
  template <class Where>
  void add(std::uint32_t binding, OpId op, Where&& where);

  const Graph& graph_;
  const Plan& plan_;
  const Duties& duties_;
  std::vector<std::uint32_t> of_tensor_;  ///< By tensor: 1 + the binding in whose buffer it lies, or 0.
  std::vector<std::uint32_t> of_arena_;   ///< By arena: the same.
  std::vector<std::vector<bool>> used_;   ///< By binding and batch; empty without batches.
};

}  // namespace stowage
