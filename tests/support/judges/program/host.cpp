#include "support/judges/program/host.hpp"

#include <span>
#include <utility>

namespace stowage::testing {

Host::Host(const Graph& graph, const Program& program, std::uint32_t batch, std::mt19937_64& random)
    : graph_(graph), random_(random) {
  for (const ProgramStep& step : program.steps)
    if (step.batch == 0 || step.batch == batch) steps_.push_back(step);
}

std::optional<std::string> Host::perform() {
  submission_.visits.push_back({ScopeId(0)});
  if (perform(0, steps_.size(), 0)) return std::nullopt;
  return "steps of a body stand where it is not";
}

bool Host::is_within(ScopeId scope, ScopeId body) const {
  while (scope != body && scope != ScopeId(0)) scope = graph_.scope(scope).parent;
  return scope == body;
}

bool Host::perform(std::size_t begin, std::size_t end, std::size_t visit) {
  for (std::size_t at = begin; at < end;) {
    const ProgramStep step = steps_[at++];
    if (step.scope != submission_.visits[visit].scope) return false;
    submission_.instructions.push_back({step, visit});
    const bool control = step.kind == ProgramStep::Kind::op && graph_.op(OpId(step.index)).control != Control::none;
    if (control && !perform_bodies(OpId(step.index), at, end, visit)) return false;
  }
  return true;
}

bool Host::perform_bodies(OpId op, std::size_t& at, std::size_t end, std::size_t visit) {
  const std::span<const ScopeId> bodies = graph_.bodies(op);
  const std::size_t chosen = random_() % bodies.size();
  const std::size_t trips = graph_.op(op).control == Control::loop ? random_() % 3 : 1;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const std::size_t begin = at;
    while (at < end && is_within(steps_[at].scope, bodies[b])) ++at;
    std::size_t previous = submission_.visits.size();
    for (std::size_t trip = 0; b == chosen && trip < trips; ++trip) {
      const std::size_t next = submission_.visits.size();
      submission_.visits.push_back({bodies[b], visit, std::exchange(previous, next)});
      if (!perform(begin, at, next)) return false;
    }
  }
  return true;
}

}  // namespace stowage::testing
