#pragma once

/// Answers for people: why a graph needs what it needs, what changed between two plans, pages to
/// look at both, and, for viewers that others wrote, a plan's timeline and what allocators hold.
#include "stowage/report/diff.hpp"
#include "stowage/report/explain.hpp"
#include "stowage/report/export.hpp"
#include "stowage/report/memory_snapshot.hpp"
#include "stowage/report/page.hpp"
#include "stowage/report/scene.hpp"
#include "stowage/report/timeline.hpp"
