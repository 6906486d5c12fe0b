#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage::testing {

/// What a host submits when it performs a program: the steps of one run, bodies as often as it chose to run them.
struct Submission {
  struct Instruction {
    ProgramStep step;
    std::size_t visit;  ///< Of its scope.
  };
  /// One run of a scope: the root, a body, or an iteration.
  struct Visit {
    ScopeId scope;
    std::size_t outer = 0;     ///< The visit in which the op with this body runs; the root's own.
    std::size_t previous = 0;  ///< The previous iteration, or the visit itself.
  };
  std::vector<Instruction> instructions;  ///< In the order of the host.
  std::vector<Visit> visits;              ///< The root first.
};

/// Performs the program as its contract says a host does (`Program`), for one batch (numbered as in `ProgramStep`).
/// `random` chooses the bodies of branches and how often loops run (up to twice). Fails with a sentence if it comes
/// upon steps of a body where that body is not.
class Host {
 public:
  Host(const Graph& graph, const Program& program, std::uint32_t batch, std::mt19937_64& random);

  [[nodiscard]] std::optional<std::string> perform();
  [[nodiscard]] const Submission& submission() const { return submission_; }

 private:
  /// Steps [begin, end) of `steps_`.
  bool perform(std::size_t begin, std::size_t end, std::size_t visit);
  bool perform_bodies(OpId op, std::size_t& at, std::size_t end, std::size_t visit);
  [[nodiscard]] bool is_within(ScopeId scope, ScopeId body) const;

  const Graph& graph_;
  std::mt19937_64& random_;
  std::vector<ProgramStep> steps_;  ///< Of this batch.
  Submission submission_;
};

}  // namespace stowage::testing
