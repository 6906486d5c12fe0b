#pragma once

/// All of Stowage. Include a module's header instead if compile time matters.

#include "stowage/alloc.hpp"
#include "stowage/base.hpp"
#include "stowage/files.hpp"
#include "stowage/graph.hpp"
#include "stowage/io.hpp"
#include "stowage/memory.hpp"
#include "stowage/memory/cuda.hpp"
#include "stowage/pack.hpp"
#include "stowage/pack/replanner.hpp"
#include "stowage/plan.hpp"
#include "stowage/planner.hpp"
#include "stowage/replay.hpp"
#include "stowage/report.hpp"
#include "stowage/runtime.hpp"
#include "stowage/verify.hpp"
