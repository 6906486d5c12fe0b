#pragma once

/// ggml's headers, including the internal ones next to its sources, which have the layouts of graphs, buffers and
/// buffer types.
#include <ggml-alloc.h>
#include <ggml-backend-impl.h>
#include <ggml-impl.h>
#include <ggml.h>
