#pragma once

/// The two values that planning turns into each other: `Problem`, pure geometry for the solvers,
/// and `Plan`, the answer in the words of the graph. Both are plain, printable and comparable.
#include "stowage/plan/plan.hpp"
#include "stowage/plan/problem.hpp"
