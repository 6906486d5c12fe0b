#pragma once

/// ggml's own headers, those beside its sources included: from there come the layouts of graphs, buffers and buffer
/// types.
#include <ggml-alloc.h>
#include <ggml-backend-impl.h>
#include <ggml-impl.h>
#include <ggml.h>
