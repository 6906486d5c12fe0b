#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "lower/duties.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage {

/// The fills at the start of a run: which ops meet them, in which batches they are needed, and on which stream they
/// are best made.
///
/// Nothing but a fill itself precedes it, so it needs no waits; but every op that accesses its bytes must come after
/// it, whether or not it is the one that needs them filled. It is enough that the first such op of each stream does.
class StartFills {
 public:
  StartFills(const Graph& graph, const Plan& plan, const Duties& duties);

  /// The batches (numbered as in `ProgramStep`, without batches only 0) in which `clear` is needed; all, if in none.
  [[nodiscard]] const std::vector<bool>& batches(std::size_t clear) const { return needed_[clear]; }
  /// The stream of the first op that meets the fill, so that at least this op needs no wait.
  [[nodiscard]] StreamId stream(std::size_t clear) const { return streams_[clear]; }

  /// An op of the root, or one with such ops in its bodies, and a fill whose bytes it is the first on its stream to
  /// access.
  struct Meeting {
    OpId op;
    std::uint32_t clear;
  };
  /// Those of the run of a batch, ascending by op.
  [[nodiscard]] std::vector<Meeting> meetings(std::uint32_t batch) const;
  /// Pairs of fills with common bytes, the earlier one first. None in the plans that we make.
  [[nodiscard]] const std::vector<std::pair<std::uint32_t, std::uint32_t>>& overlaps() const { return overlaps_; }

 private:
  struct Filled {
    std::pair<ArenaId, std::uint32_t> region;
    ByteRange bytes;
    std::uint32_t clear;
    Bytes reach;  ///< The largest end in this region so far.
  };

  void index();
  void find_overlaps();
  void find_places();
  void find_needs();
  void find_streams();
  void need(OpId op, std::pair<ArenaId, std::uint32_t> region, ByteRange bytes);
  /// Calls `f(clear)` for the fills at the start that have one of these bytes.
  template <class F>
  void visit(std::pair<ArenaId, std::uint32_t> region, ByteRange bytes, F&& f) const;
  /// The same for all bytes that the op, what is done before it, and its bodies access.
  template <class F>
  void visit_op(OpId op, std::uint32_t batch, F&& f) const;
  template <class F>
  void visit_scope(ScopeId scope, std::uint32_t batch, F&& f) const;
  template <class F>
  void visit_tensor(TensorId tensor, F&& f) const;
  /// The bytes at an offset, with their padding if that is theirs.
  [[nodiscard]] ByteRange padded(Bytes offset, Bytes size, Bytes alignment) const;

  const Graph& graph_;
  const Plan& plan_;
  const Duties& duties_;
  std::vector<Filled> filled_;                                       ///< Ascending by region and first byte.
  std::vector<const Placement*> places_;                             ///< By tensor.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> workspaces_;  ///< By op: the range in `Plan::workspaces`.
  std::vector<std::vector<bool>> needed_;                            ///< By clear.
  std::vector<StreamId> streams_;                                    ///< By clear.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> overlaps_;
};

}  // namespace stowage
