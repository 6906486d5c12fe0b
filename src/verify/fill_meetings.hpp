#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "verify/conflicts.hpp"
#include "verify/run.hpp"
#include "verify/shared_bytes.hpp"

namespace stowage::verification {

class Demand;

/// Which ops access bytes that fills at the start of a run write, and so must come after them, whatever they access
/// them for. Of the ops of one stream the first is enough. An op with bodies accesses what is accessed inside.
class FillMeetings {
 public:
  /// Uses of `demand` what it says of clears, copies, and the ops that run.
  FillMeetings(const Facts& facts, const Run& run, const Demand& demand);

  struct Meeting {
    std::uint32_t clear;
    OpId op;  ///< Of the root.
  };
  /// Ascending by op.
  [[nodiscard]] const std::vector<Meeting>& met() const { return met_; }
  /// Pairs of fills with common bytes, ascending by the second. The first is earlier in the plan, hence in the run.
  [[nodiscard]] const std::vector<std::pair<std::uint32_t, std::uint32_t>>& overlaps() const { return overlaps_; }

 private:
  struct Filled {
    Spot spot;
    std::uint32_t clear;
    Bytes reach;  ///< The largest end in this cell up to here.
  };

  void list_fills();
  void visit_op(OpId op);
  void visit_inside(OpId op);
  void visit_copy(std::uint32_t copy);
  void visit_tensor(TensorId tensor);
  void visit(const Place* place, Bytes size, Bytes alignment);
  template <class F>
  void for_each_at(const Spot& spot, F&& f) const;

  const Facts& facts_;
  const Graph& graph_;
  const Run& run_;
  const Demand& demand_;
  std::vector<Filled> filled_;  ///< Ascending.
  OpId root_op_;                ///< That is being visited.
  std::set<std::pair<std::uint32_t, StreamId>> known_;
  std::vector<Meeting> met_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> overlaps_;
};

}  // namespace stowage::verification
