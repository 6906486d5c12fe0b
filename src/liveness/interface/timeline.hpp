#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "liveness/interface/sharing.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"

/// When everything happens: the one order in which ops, bodies and batches are laid out.
namespace stowage {

/// What happens at a step.
struct Moment {
  enum class Kind : std::uint8_t {
    op,        ///< An op without bodies runs.
    enter,     ///< An op with bodies starts.
    body_end,  ///< One of its bodies, or an iteration of it, is over.
    exit,      ///< It ends.
    start,     ///< Nothing: the caller has given the inputs. Where batches begin at once.
  };
  Kind kind = Kind::op;
  OpId op;
  ScopeId scope;            ///< Where the op is; for body_end the body.
  std::uint32_t batch = 0;  ///< 1 + the batch that this step belongs to; 0: it is common to all.
};

struct Exclusive;

/// Steps that follow each other, except for parts that exclude each other.
struct Stretch {
  Interval steps;
  std::vector<Exclusive> inside;  ///< Ascending.
};

/// Parts of which only one happens in a run: the bodies of a branch, the batches.
struct Exclusive {
  Interval steps;
  std::vector<Stretch> parts;
};

/// The order in which everything is laid out in time: root ops in their order, bodies inside their ops, one after the
/// other; the steps of batches once for each batch. Without bodies and batches step k is op k.
struct Timeline {
  std::vector<Moment> moments;
  Stretch whole;

  /// The steps of an op, from its first to its last; several where it is laid out for each batch.
  [[nodiscard]] std::span<const Interval> spans(OpId op) const {
    return std::span(span_list).subspan(span_begin[op.index()], span_begin[op.index() + 1] - span_begin[op.index()]);
  }
  /// One past the last step; at least 1.
  [[nodiscard]] Step horizon() const { return std::max(Step(1), whole.steps.upper); }
  [[nodiscard]] const Moment& at(Step step) const { return moments[static_cast<std::size_t>(step.value())]; }
  /// Whether there are bodies or batches.
  [[nodiscard]] bool branches() const { return branching; }

  bool branching = false;
  std::vector<std::size_t> span_begin;  ///< By op, plus one.
  std::vector<Interval> span_list;
};

/// Lays the ops out in time. Which tensors share memory matters for batches: what exists in some of them only is laid
/// out with them. O(ops × batches + accesses).
[[nodiscard]] Timeline make_timeline(const Graph& graph, const Sharing& sharing);

}  // namespace stowage
