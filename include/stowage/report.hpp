#pragma once

/// Answers for people: why a graph needs what it needs, what changed between two plans, and a plan's timeline for viewers that
/// others wrote.
#include "stowage/report/diff.hpp"
#include "stowage/report/explain.hpp"
#include "stowage/report/timeline.hpp"
