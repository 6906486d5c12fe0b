#ifndef STOWAGE_STOWAGE_H
#define STOWAGE_STOWAGE_H

/// Stowage for C, and for every language that can call C (C99; docs/c.md).
///
/// - `stowage_pack` is the small thing: arrays go in, offsets come out. It needs no graph, and
///   nothing is left to be freed. The library `stowage_pack` has nothing else, and the header
///   stowage/c/pack.h suffices for it.
/// - Everything else works on handles: graphs, plans, texts, devices and allocators. Each has one
///   `stowage_..._free`, which ignores NULL.
///
/// Conventions:
/// - Structs begin with `struct_size`, which the caller sets to `sizeof` of the struct; all other
///   fields may be 0, which is their default. Later versions only append fields, so programs
///   compiled against an older header keep working. A field that this version does not know must
///   be 0.
/// - A `stowage_status*` is NULL on success; otherwise it says what went wrong and is to be freed.
///   Results are written only on success.
/// - Strings are UTF-8 and end with NUL. What a function returns as `const` belongs to its handle.
/// - Sizes, offsets and steps are signed 64-bit numbers; lists are a pointer and a count, and the
///   pointer may be NULL if the count is 0.
/// - No C++ exception leaves a function. A bug of the library found on the calling thread is
///   `STOWAGE_INTERNAL`; one on a thread that the library started (`threads` above 1) aborts.
/// - Unless said otherwise, functions may be called from any thread, also by several for one
/// handle,
///   as long as none of the calls frees it.

#include "stowage/c/allocator.h"
#include "stowage/c/graph.h"
#include "stowage/c/pack.h"
#include "stowage/c/plan.h"

#endif
