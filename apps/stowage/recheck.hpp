#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "stowage/planner.hpp"
#include "stowage/verify.hpp"

namespace stowage::cli {

/// What planning a graph again says about a bound that a plan claims.
enum class Recheck : std::uint8_t {
  confirmed,  ///< The bound was proven again.
  refuted,    ///< A smaller plan was found.
  undecided,  ///< Neither, in the time.
};

[[nodiscard]] std::string_view to_string(Recheck verdict);

/// The arenas of one memory and kind, whose values a plan may divide among them as it likes.
struct RecheckedBound {
  std::string arenas;  ///< Their names.
  Bytes claimed;       ///< The sum of the lower bounds that the plan claims.
  Bytes proven;        ///< The sum of those that were proven again.
  Bytes found;         ///< The size of these arenas in the plan that was found.
  Recheck verdict = Recheck::undecided;
};

/// Plans `graph` again without `plan`, by the rules that it was verified with, and compares the bounds of its arenas,
/// except those of rings and callers' buffers, whose sizes are given. Fails as `stowage::plan` does. Without a time
/// limit it may take for ever.
Result<std::vector<RecheckedBound>> recheck(const Graph& graph, const Plan& plan, const VerifyOptions& rules,
                                            std::chrono::nanoseconds time_limit);

/// The verdict on all of them: refuted if one is, undecided if one is.
[[nodiscard]] Recheck verdict_of(const std::vector<RecheckedBound>& bounds);

/// One line for each bound.
[[nodiscard]] std::string recheck_text(const std::vector<RecheckedBound>& bounds);
/// An object with the verdict and the figures.
[[nodiscard]] std::string recheck_json(const std::vector<RecheckedBound>& bounds);

}  // namespace stowage::cli
