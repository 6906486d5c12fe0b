#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "stowage/plan.hpp"

namespace stowage::testing {

/// "s1 wait 0", "s0 op 3", "bind 0"; in a body "s0 op 4 in 1", in the runs of a batch "s0 fill 0 if 2".
inline std::string line_of(const ProgramStep& step) {
  constexpr const char* kKinds[] = {"bind", "fill", "copy", "op", "record", "wait"};
  std::string line = fmt::format("{} {}", kKinds[static_cast<std::size_t>(step.kind)], step.index);
  if (step.kind != ProgramStep::Kind::bind) line = fmt::format("s{} {}", step.stream.index(), line);
  if (step.scope != ScopeId(0)) line += fmt::format(" in {}", step.scope.index());
  if (step.batch != 0) line += fmt::format(" if {}", step.batch);
  return line;
}

inline std::vector<std::string> lines_of(const Program& program) {
  std::vector<std::string> lines;
  for (const ProgramStep& step : program.steps) lines.push_back(line_of(step));
  return lines;
}

}  // namespace stowage::testing
