#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "verify/course.hpp"
#include "verify/rules.hpp"

namespace stowage::verification {

/// Events during which a value has its bytes to itself: `[from, to)`.
struct Need {
  EventIndex from;
  EventIndex to;
  bool open_start;  ///< It had them before, on the way to `from`.
  bool open_end;    ///< It still needs them after the last of these events.
};

/// By value: when it needs its bytes in one run, whatever the plan: from the first access, or the start, to the last
/// access on every way that the run may take from there, or the end. It does not need them on a path of a fork where
/// nobody accesses it afterwards, nor where a loop writes its next value before anybody reads it. An op that requires
/// its inputs to be contiguous may read copies of them: then it does not need the values themselves. Nor are they
/// needed where they enter a loop or leave a body: the bytes that are handed over may be a small part of a value.
class Needs {
 public:
  /// `filled_at_start` has 1 for each value that a clear at the start fills.
  Needs(const Case& input, const Run& run, const Course& course, const std::vector<char>& filled_at_start);

  [[nodiscard]] std::span<const Need> of(ValueId value) const {
    return std::span(needs_).subspan(first_[value.index()], first_[value.index() + 1] - first_[value.index()]);
  }
  /// Whether the value is needed at the event for the first time, or for the last, except that the next iteration of a
  /// loop may need it again.
  [[nodiscard]] bool begins_at(ValueId value, EventIndex event) const;
  [[nodiscard]] bool ends_at(ValueId value, EventIndex event) const;

 private:
  struct Use {
    EventIndex event;
    bool fresh = false;    ///< Its old content is not needed any more.
    bool by_copy = false;  ///< It is read by a copy right before the event, or at the event.
  };
  /// Uses of one content of a value, and whether it is there before the first or needed after the last event.
  struct Content {
    std::span<const Use> uses;
    bool before;
    bool after;
  };

  void collect(const Course& course);
  void collect_op(const Event& event, EventIndex at);
  void collect_inputs(OpId op, EventIndex at);
  void collect_body_end(const Event& event, EventIndex at);
  void collect_loop_entry(const Event& event, EventIndex at);
  void stretch_over_loops(const Course& course);
  void use(ValueId value, Use use);
  void use_by_copy(TensorId tensor, EventIndex at);
  void add_unread_input(const Course& course, std::vector<Use>& uses) const;
  void settle(const Course& course, ValueId value, std::vector<Use> uses, bool filled_at_start);
  void add(const Path& path, const Content& content);
  void divide(const Fork& fork, const Content& content);

  const Case& input_;
  const Run& run_;
  std::vector<std::pair<std::uint32_t, Use>> uses_;  ///< By value, in the order of events.
  std::vector<std::size_t> first_;                   ///< By value, and the end: into needs_.
  std::vector<Need> needs_;
};

}  // namespace stowage::verification
