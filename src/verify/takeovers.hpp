#pragma once

#include <map>
#include <utility>
#include <vector>

#include "verify/extents.hpp"
#include "verify/needs.hpp"
#include "verify/order.hpp"

namespace stowage::verification {

/// One run, and what is known about it.
struct RunNeeds {
  Run run;
  Course course;
  Needs needs;
  Order order;
};

/// At some event `to` may begin in bytes of `from`, which is needed there for the last time: an output that overwrites
/// an input in place, or a value that goes into a loop, around it, or out of a body.
struct Takeover {
  ValueId from;
  ValueId to;
  Bytes distance;  ///< From the lowest byte of `from` to that of `to`.
};

/// The takeovers that some plan may use.
class Takeovers {
 public:
  Takeovers(const Case& input, const std::vector<Extent>& extents, const std::vector<RunNeeds>& runs);

  [[nodiscard]] bool empty() const { return takeovers_.empty(); }
  [[nodiscard]] const std::vector<Takeover>& at(const Event& event) const;
  /// Whether one of the two may take over from the other somewhere. O(takeovers).
  [[nodiscard]] bool are_linked(ValueId a, ValueId b) const;
  /// The ops that access the value in the run. Precondition: the graph has several streams.
  [[nodiscard]] std::vector<std::uint32_t> ops_of(const RunNeeds& run, ValueId value) const;

 private:
  using Key = std::pair<Event::Kind, std::size_t>;  ///< The op; for body_end the body.

  [[nodiscard]] static Key key(const Event& event) {
    return {event.kind, event.kind == Event::Kind::body_end ? event.body.index() : event.op.index()};
  }
  void add_pairs(OpId op);
  void add_hand_overs(ScopeId body);
  void add(const Event& event, TensorId from, TensorId to);
  [[nodiscard]] bool reads_otherwise(const Op& op, InPlacePair pair) const;
  [[nodiscard]] bool writes_beside(const Op& op, InPlacePair pair) const;
  /// Whether in every run `from` is needed for the last time at this event, and `to` for the first.
  [[nodiscard]] bool is_apart(ValueId from, ValueId to, Bytes distance) const;
  [[nodiscard]] bool is_change(const Event& event, ValueId from, ValueId to) const;
  [[nodiscard]] bool is_over(const RunNeeds& run, OpId op, ValueId value) const;
  void list_accesses();

  const Case& input_;
  const std::vector<Extent>& extents_;
  const std::vector<RunNeeds>& runs_;
  std::vector<std::vector<std::uint32_t>> ops_of_;  ///< By value: the ops that access it. Empty for one stream.
  std::map<Key, std::vector<Takeover>> takeovers_;
};

}  // namespace stowage::verification
