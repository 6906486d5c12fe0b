#pragma once

/// Reports: why a graph needs as much memory as it does, what changed between two plans, tables of
/// many plans, HTML pages, and exports for third-party viewers and runtimes.
#include "stowage/report/diff.hpp"
#include "stowage/report/explain.hpp"
#include "stowage/report/export.hpp"
#include "stowage/report/memory_snapshot.hpp"
#include "stowage/report/page.hpp"
#include "stowage/report/scene.hpp"
#include "stowage/report/sweep.hpp"
#include "stowage/report/timeline.hpp"
