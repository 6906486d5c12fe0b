#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "verify/run.hpp"

namespace stowage::verification {

/// Position in a `Course`.
using EventIndex = std::uint32_t;

/// Something that happens in a run.
struct Event {
  enum class Kind : std::uint8_t {
    start,     ///< The caller has written the inputs.
    op,        ///< An op without bodies.
    enter,     ///< An op with bodies starts.
    body_end,  ///< One of its bodies, or an iteration of it, ends.
    exit,      ///< It ends.
  };
  Kind kind = Kind::start;
  OpId op = {};
  ScopeId body = {};  ///< For body_end.
};

struct Fork;

/// Events that follow each other, some of them inside forks.
struct Path {
  EventIndex from = 0;
  EventIndex to = 0;
  std::vector<Fork> forks;  ///< Ascending.
};

/// The bodies of a branch with several: a run takes one of these paths.
struct Fork {
  EventIndex from = 0;
  EventIndex to = 0;
  std::vector<Path> paths = {};
};

/// Everything that may happen in the run of one batch, one event after another: bodies inside their ops, the bodies of
/// a branch one after another, the body of a loop once.
struct Course {
  struct Loop {
    ScopeId body;
    EventIndex enter;
    EventIndex end;  ///< The end of an iteration.
  };

  Course(const Graph& graph, const Run& run);

  std::vector<Event> events;
  Path whole;
  std::vector<Loop> loops;  ///< Inner ones before those around them.
  /// By op: when it runs, or is entered; 0 if it does not run.
  std::vector<EventIndex> event_of;
  std::vector<EventIndex> end_of;  ///< By body; 0 if it does not run.

 private:
  void add_scope(const Graph& graph, const Run& run, ScopeId scope, Path& path);
  void add_op(const Graph& graph, const Run& run, OpId op, Path& path);
  void add_body(const Graph& graph, const Run& run, OpId op, ScopeId body, Path& path);
  [[nodiscard]] EventIndex now() const { return static_cast<EventIndex>(events.size()); }
};

}  // namespace stowage::verification
