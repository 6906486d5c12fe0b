#ifndef STOWAGE_C_PLAN_H
#define STOWAGE_C_PLAN_H

/// Plans of graphs, what is wrong with them, and why they are that big. Part of stowage.h, which
/// states the conventions.

#include "stowage/c/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A plan of a graph: where every tensor lies; immutable.
typedef struct stowage_plan stowage_plan;

/// As the options of `stowage plan` (its manual page); 0 is the default of each.
typedef struct stowage_plan_options {
  size_t struct_size;
  double time_limit;       ///< Seconds; 0: one second; negative: no limit.
  int64_t capacity;        ///< The largest acceptable peak in each memory; 0: none.
  int64_t capacity_total;  ///< Of peak and weights together; 0: none.
  int64_t region_limit;    ///< The largest size of a region; 0: none.
  int64_t fuse_inputs;     ///< Zero-copy inputs up to this size lie next to each other.
  uint64_t seed;
  uint64_t node_budget;  ///< 0: none.
  uint32_t threads;      ///< 0: one.
  int32_t no_in_place;
  int32_t keep_inputs;
  int32_t no_reuse;
  int32_t separate_fills;
  int32_t refreshable_base;
  int32_t same_batch_start;
  int32_t padding_none;
  int32_t memory_priority;
  int32_t no_extra_copies;       ///< 1: copies only what cannot lie where its op needs it.
  int32_t keep_offsets;          ///< With `previous`: fails where something cannot stay.
  const stowage_plan* previous;  ///< What it places stays where that costs nothing; NULL: none.
  const char* solver;            ///< NULL: "auto".
  stowage_progress on_better;    ///< May be NULL.
  void* user;                    ///< For `on_better`.
} stowage_plan_options;

typedef struct stowage_figures {
  size_t struct_size;
  stowage_outcome outcome;
  int32_t proven;       ///< 1: no plan of the graph in this order of ops has a smaller peak.
  int64_t peak;         ///< Of all arenas except for weights and the caller's buffers.
  int64_t lower_bound;  ///< Of the peak.
  int64_t weights;
  int64_t total;        ///< Weights and peak.
  int64_t naive;        ///< The peak without any reuse; -1 for a plan that was read from a file.
  double milliseconds;  ///< That planning took.
} stowage_figures;

typedef struct stowage_arena {
  size_t struct_size;
  const char* name;
  const char* memory;
  const char* kind;  ///< "shared", "fixed", "session", "persistent", "pool", "user".
  int64_t size;
  int64_t lower_bound;
  int32_t proven;
  uint32_t region_count;
} stowage_arena;

/// Plans `graph`. That nothing fits the capacity is an outcome, not a failure. `options` may be
/// NULL.
STOWAGE_C_API stowage_status* stowage_plan_make(const stowage_graph* graph,
                                                const stowage_plan_options* options,
                                                stowage_plan** plan);
/// Reads a plan file (`stowage.plan/1`) of `graph`, without verifying it.
STOWAGE_C_API stowage_status* stowage_plan_from_bytes(const stowage_graph* graph, const void* bytes,
                                                      size_t size, const char* name,
                                                      stowage_plan** plan);
/// The plan file. STOWAGE_INVALID if there is no answer.
STOWAGE_C_API stowage_status* stowage_plan_to_bytes(const stowage_plan* plan, stowage_text** bytes);
/// `stowage.summary/1`, what `stowage plan --json` prints.
STOWAGE_C_API stowage_status* stowage_plan_summary(const stowage_plan* plan, stowage_text** json);
/// Why the capacity is not met, in words; empty if it is, or if that is not known.
STOWAGE_C_API stowage_status* stowage_plan_shortage(const stowage_plan* plan, stowage_text** text);
STOWAGE_C_API stowage_status* stowage_plan_figures(const stowage_plan* plan,
                                                   stowage_figures* figures);

/// By tensor: the offset in its region, or -1 for what has no place (what the caller's buffers
/// hold, what is elsewhere, or everything if there is no answer); its arena, or STOWAGE_NONE; its
/// region. Owned by the plan; `count` (may be NULL) becomes the number of tensors.
STOWAGE_C_API const int64_t* stowage_plan_offsets(const stowage_plan* plan, size_t* count);
STOWAGE_C_API const uint32_t* stowage_plan_arenas(const stowage_plan* plan, size_t* count);
STOWAGE_C_API const uint32_t* stowage_plan_regions(const stowage_plan* plan, size_t* count);
/// Where a workspace of an op lies: its offset, or -1; `arena` and `region` may be NULL.
STOWAGE_C_API int64_t stowage_plan_workspace(const stowage_plan* plan, uint32_t op,
                                             uint32_t workspace, uint32_t* arena, uint32_t* region);
STOWAGE_C_API size_t stowage_plan_arena_count(const stowage_plan* plan);
STOWAGE_C_API stowage_status* stowage_plan_arena(const stowage_plan* plan, size_t arena,
                                                 stowage_arena* info);
/// The top of a region of an arena; -1 if there is no such region.
STOWAGE_C_API int64_t stowage_plan_region_size(const stowage_plan* plan, size_t arena,
                                               size_t region);
STOWAGE_C_API void stowage_plan_free(stowage_plan* plan);

/// Checks a plan against its graph with the rules that the fields of `options` name (may be NULL):
/// `keep_inputs`, `refreshable_base`, `region_limit`, `same_batch_start`; whose the padding is, the
/// plan says. `count` (may be NULL) becomes the number of findings, 0 if the plan is valid; `json`
/// (may be NULL) `stowage.findings/1`.
STOWAGE_C_API stowage_status* stowage_verify(const stowage_graph* graph, const stowage_plan* plan,
                                             const stowage_plan_options* options, size_t* count,
                                             stowage_text** json);
/// Why the graph needs as much memory as it does (`stowage.explain/1`). Plans several times, for
/// `time_limit` seconds in all (0: 20; negative: no limit). `capacity`: what the peak should fit;
/// 0: none.
STOWAGE_C_API stowage_status* stowage_explain(const stowage_graph* graph,
                                              const stowage_plan_options* options, int64_t capacity,
                                              double time_limit, stowage_text** json);
/// A page for a browser that shows the plan, in one file, called `label`. STOWAGE_UNSUPPORTED for a
/// plan without an answer or read from a file.
STOWAGE_C_API stowage_status* stowage_page(const stowage_plan* plan, const char* label,
                                           stowage_text** html);

#ifdef __cplusplus
}
#endif

#endif
