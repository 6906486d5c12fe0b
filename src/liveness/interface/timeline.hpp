#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "liveness/interface/copied_members.hpp"
#include "liveness/interface/sharing.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"

/// When everything happens: the linear order into which ops, bodies and batches are laid out.
namespace stowage {

/// What happens at a step.
struct Moment {
  enum class Kind : std::uint8_t {
    op,        ///< An op without bodies runs.
    copy,      ///< Right before an op: one of its inputs is copied (`CopiedMember`).
    enter,     ///< An op with bodies starts.
    body_end,  ///< A body of that op, or an iteration of it, ends.
    exit,      ///< An op with bodies ends.
    start,     ///< No op: the caller has provided the inputs. Exists only if the first op belongs to a batch.
  };
  Kind kind = Kind::op;
  OpId op;
  ScopeId scope;            ///< The scope of the op; for body_end the body.
  std::uint32_t batch = 0;  ///< 1 + the batch that this step belongs to; 0: it is common to all batches.
  std::uint32_t copy = 0;   ///< Of a copy: which of the op's copied members it is.
};

struct Exclusive;

/// Consecutive steps, some of which may be inside exclusive parts.
struct Stretch {
  Interval steps;
  std::vector<Exclusive> inside;  ///< Ascending.
};

/// Parts of which only one happens in a run: the bodies of a branch, the batches.
struct Exclusive {
  Interval steps;
  std::vector<Stretch> parts;
};

/// Everything that happens, as a sequence of steps: root ops in their order, bodies inside their ops, one after
/// another, and the steps of batches once per batch. Without bodies, batches and copied members, step k is op k.
struct Timeline {
  std::vector<Moment> moments;
  Stretch whole;

  /// The steps of an op, from its first to its last, without its copies. Several intervals if the op is laid out once
  /// per batch.
  [[nodiscard]] std::span<const Interval> spans(OpId op) const {
    return std::span(span_list).subspan(span_begin[op.index()], span_begin[op.index() + 1] - span_begin[op.index()]);
  }
  /// One past the last step; at least 1.
  [[nodiscard]] Step horizon() const { return std::max(Step(1), whole.steps.upper); }
  /// One past the first step at which an op runs; 1 if none does.
  [[nodiscard]] Step first_op_end() const {
    const auto op = std::find_if(moments.begin(), moments.end(),
                                 [](const Moment& moment) { return moment.kind != Moment::Kind::copy; });
    return Step(1 + (op == moments.end() ? 0 : op - moments.begin()));
  }
  /// One of the spans of an op, with the steps at which its inputs are copied.
  [[nodiscard]] Interval with_copies(Interval span) const {
    while (span.lower > Step(0) && at(span.lower - Step(1)).kind == Moment::Kind::copy) span.lower -= Step(1);
    return span;
  }
  [[nodiscard]] const Moment& at(Step step) const { return moments[static_cast<std::size_t>(step.value())]; }
  /// Whether there are bodies or batches.
  [[nodiscard]] bool branches() const { return branching; }

  bool branching = false;
  std::vector<std::size_t> span_begin;  ///< By op, and the end: where its part of `span_list` begins.
  std::vector<Interval> span_list;
};

/// Lays the ops out in time. `sharing` matters for batches: ops that access a class which exists in some batches only
/// are laid out once per batch. Each copied input of an op has a step before the op. O(ops × batches + accesses).
[[nodiscard]] Timeline make_timeline(const Graph& graph, const Sharing& sharing, const CopiedMembers& copied = {});

/// The moments of the timeline that happen when a batch is chosen (numbered as in `Moment`), as if there were no
/// others.
[[nodiscard]] Timeline run_of(const Timeline& timeline, std::uint32_t batch);

}  // namespace stowage
