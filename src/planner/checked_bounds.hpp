#pragma once

#include "planner/interface/record.hpp"
#include "stowage/verify.hpp"

namespace stowage {

/// Raises the bounds of arenas whose Problems do not cover the graph (`ArenaProblem::covers_graph`) to what `verify`
/// finds that every plan needs. Updates the status accordingly. Precondition: `planned` has a plan, and `needs` are
/// those of its arenas.
void raise_to_checked_bounds(const Lowering& lowering, const VerifyOptions& rules, std::vector<ArenaNeed>& needs,
                             Planned& planned);

/// Lowers the bounds that `verify` cannot confirm, although they are not the result of a search, to what it finds that
/// every plan needs; unless the options exclude plans that it knows nothing of, such as those that work in place. Then
/// the bounds hold for the options, and say so (`BoundProof::Argument::choices`). Updates the status accordingly.
/// Returns whether some bound was lowered.
bool admit_choices(const PlanOptions& options, const VerifyOptions& rules, std::vector<ArenaNeed>& needs,
                   Planned& planned);

/// Whether the bounds of the arenas of some memory are above the capacity that `planned` was made with.
[[nodiscard]] bool exceeds_capacity(const std::vector<ArenaNeed>& needs, const Planned& planned);

}  // namespace stowage
