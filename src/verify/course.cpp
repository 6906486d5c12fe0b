#include "verify/course.hpp"

namespace stowage::verification {

Course::Course(const Graph& graph, const Run& run) {
  events.reserve(graph.ops().size() + 1);
  event_of.resize(graph.ops().size());
  end_of.resize(graph.scopes().size());
  events.emplace_back();
  add_scope(graph, run, ScopeId(0), whole);
  whole.to = now();
}

void Course::add_scope(const Graph& graph, const Run& run, ScopeId id, Path& path) {
  const Scope& scope = graph.scope(id);
  for (std::size_t i = 0; i < scope.op_count; ++i) {
    const OpId op(scope.first_op.index() + i);
    if (run.is_active(op)) add_op(graph, run, op, path);
  }
}

void Course::add_op(const Graph& graph, const Run& run, OpId op, Path& path) {
  event_of[op.index()] = now();
  if (graph.op(op).control == Control::none) {
    events.push_back({Event::Kind::op, op, {}});
    return;
  }
  const EventIndex enter = now();
  events.push_back({Event::Kind::enter, op, {}});
  const std::span<const ScopeId> bodies = graph.bodies(op);
  if (bodies.size() == 1) {
    add_body(graph, run, op, bodies.front(), path);
    if (graph.op(op).control == Control::loop) loops.push_back({bodies.front(), enter, now() - 1});
  } else {
    Fork fork{.from = now()};
    for (const ScopeId body : bodies) {
      Path inside{.from = now(), .to = 0, .forks = {}};
      add_body(graph, run, op, body, inside);
      inside.to = now();
      fork.paths.push_back(std::move(inside));
    }
    fork.to = now();
    path.forks.push_back(std::move(fork));
  }
  events.push_back({Event::Kind::exit, op, {}});
}

void Course::add_body(const Graph& graph, const Run& run, OpId op, ScopeId body, Path& path) {
  add_scope(graph, run, body, path);
  end_of[body.index()] = now();
  events.push_back({Event::Kind::body_end, op, body});
}

}  // namespace stowage::verification
