#pragma once

/// The values of planning: `Problem`, the input of the solvers, and `Plan`, the result in terms of
/// the graph. Both are plain, printable and comparable.
#include "stowage/plan/plan.hpp"
#include "stowage/plan/problem.hpp"
#include "stowage/plan/program.hpp"
