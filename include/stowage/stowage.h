#ifndef STOWAGE_STOWAGE_H
#define STOWAGE_STOWAGE_H

/// Stowage for C, and for every language that can call C (C99; docs/c.md).
///
/// - `stowage_pack` is the small thing: arrays go in, offsets come out. It needs no graph, leaves
/// nothing
///   to be freed, and is all that the library `stowage_pack` has.
/// - Everything else works on handles: graphs, plans, texts, devices and allocators. Each has one
///   `stowage_..._free`, which ignores NULL.
///
/// Conventions:
/// - Structs begin with `struct_size`, which the caller sets to `sizeof` of the struct; all other
/// fields
///   may be 0, which is their default. Later versions only append fields, so programs compiled
///   against an older header keep working. A field that this version does not know must be 0.
/// - A `stowage_status*` is NULL on success; otherwise it says what went wrong and is to be freed.
///   Results are written only on success.
/// - Strings are UTF-8 and end with NUL. What a function returns as `const` belongs to its handle.
/// - Sizes, offsets and steps are signed 64-bit numbers; lists are a pointer and a count, and the
///   pointer may be NULL if the count is 0.
/// - No C++ exception leaves a function. A bug of the library found on the calling thread is
///   `STOWAGE_INTERNAL`; one on a thread that the library started (`threads` above 1) aborts.
/// - Unless said otherwise, functions may be called from any thread, also for one handle at a time
/// as
///   long as none of the calls frees it.

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define STOWAGE_C_API __attribute__((visibility("default")))
#else
#define STOWAGE_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// The version of this header: 10000 × major + 100 × minor + patch.
#define STOWAGE_VERSION 100

/// The version of the library, in the same form.
STOWAGE_C_API int32_t stowage_version(void);

/// What kind of failure it was.
typedef int32_t stowage_code;
enum {
  STOWAGE_OK = 0,
  STOWAGE_IO,           ///< A file could not be opened, read or written.
  STOWAGE_PARSE,        ///< The bytes are not what the format says.
  STOWAGE_INVALID,      ///< Breaks a rule: a cycle, a view outside its base, a NULL argument ...
  STOWAGE_UNSUPPORTED,  ///< Correct, but not something that this version can do.
  STOWAGE_UNKNOWN_NAME,
  STOWAGE_OUT_OF_MEMORY,
  STOWAGE_NOT_RESERVED,  ///< Not used yet.
  STOWAGE_DEVICE,        ///< The operating system or a device failed.
  STOWAGE_INTERNAL       ///< A bug of this library.
};

/// "out of memory", "parse error" ...; "unknown code" for other numbers.
STOWAGE_C_API const char* stowage_code_name(stowage_code code);

/// How far a search got.
typedef int32_t stowage_outcome;
enum {
  STOWAGE_OPTIMAL = 0,  ///< An answer whose peak equals the lower bound: none is smaller.
  STOWAGE_FEASIBLE,     ///< An answer, within the capacity where there is one.
  STOWAGE_INFEASIBLE,   ///< Proven: no answer exists within the capacity.
  STOWAGE_TIMED_OUT     ///< Neither an answer within the capacity nor a proof that none exists.
};

/// Called with each better answer, on the calling thread. `arena` is what is being packed. Any
/// result other than 0 ends the search; the best answer so far is what counts.
typedef int32_t (*stowage_progress)(void* user, const char* arena, int64_t peak,
                                    int64_t lower_bound);

// ----------------------------------------------------------------------------------- packing
// arrays

/// Two items that may lie at one place or must lie apart: if `b` begins `distance` bytes after `a`,
/// they do not conflict. That is how an output may overwrite an input.
typedef struct stowage_join {
  uint32_t a;
  uint32_t b;
  int64_t distance;
} stowage_join;

/// Two items that must not share bytes, whenever they live.
typedef struct stowage_pair {
  uint32_t a;
  uint32_t b;
} stowage_pair;

/// `count` items. Item i occupies `size[i]` bytes during the steps [lower[i], upper[i]).
typedef struct stowage_pack_input {
  size_t struct_size;
  size_t count;
  const int64_t* lower;
  const int64_t* upper;
  const int64_t* size;
  const int64_t* alignment;  ///< Of each offset, a power of two; NULL: 1 for all.
  const int64_t* fixed;      ///< The offset that an item must have, or -1; NULL: none has one.
  const stowage_join* joins;
  size_t join_count;
  const stowage_pair* apart;
  size_t apart_count;
} stowage_pack_input;

typedef struct stowage_pack_options {
  size_t struct_size;
  double time_limit;  ///< Seconds; 0: one second; negative: no limit.
  int64_t capacity;   ///< The largest acceptable peak; 0: none. Ends the search when it is met.
  uint64_t seed;
  uint64_t node_budget;  ///< Ends the search after about so many nodes; 0: see `SolveOptions`.
  uint32_t threads;      ///< 0: one.
  const char* solver;    ///< A name that `stowage solvers` lists; NULL: "auto".
  stowage_progress on_better;  ///< May be NULL.
  void* user;                  ///< For `on_better`.
} stowage_pack_options;

typedef struct stowage_pack_result {
  size_t struct_size;
  stowage_outcome outcome;
  int32_t proven;       ///< 1: no answer has a smaller peak.
  int64_t peak;         ///< The largest offset plus size.
  int64_t lower_bound;  ///< No answer has a smaller peak than this.
  uint64_t nodes;       ///< That the search visited.
  char message[256];    ///< Empty, or what was wrong with the input, naming the item.
} stowage_pack_result;

/// Finds an offset for each item such that no two that are live at the same step share bytes, with
/// a peak as small as possible. `offsets` has room for `count` numbers. It is written if there is
/// an answer; with STOWAGE_TIMED_OUT it holds the best one above the capacity, or -1 everywhere if
/// none was found, and with STOWAGE_INFEASIBLE -1 everywhere.
///
/// `options` may be NULL, and `result` too if only the offsets matter. Nothing is left to be freed.
/// The same input, seed and node budget give the same answer unless the time ends the search.
/// Returns STOWAGE_OK for every outcome of a search; STOWAGE_INVALID for input that breaks a rule,
/// STOWAGE_UNKNOWN_NAME for a solver that does not exist, STOWAGE_OUT_OF_MEMORY, STOWAGE_INTERNAL.
STOWAGE_C_API stowage_code stowage_pack(const stowage_pack_input* input,
                                        const stowage_pack_options* options, int64_t* offsets,
                                        stowage_pack_result* result);

// -------------------------------------------------------------------------------- statuses and
// texts

typedef struct stowage_status stowage_status;

/// STOWAGE_OK for NULL.
STOWAGE_C_API stowage_code stowage_status_code(const stowage_status* status);
/// One line that names the file, line, op or tensor; "" for NULL.
STOWAGE_C_API const char* stowage_status_message(const stowage_status* status);
/// Where in the input the error is: the file's name, the path inside it ("tensors[3].size") and the
/// line; "" and 0 if unknown.
STOWAGE_C_API const char* stowage_status_file(const stowage_status* status);
STOWAGE_C_API const char* stowage_status_path(const stowage_status* status);
STOWAGE_C_API int64_t stowage_status_line(const stowage_status* status);
STOWAGE_C_API void stowage_status_free(stowage_status* status);

/// Text or bytes that a function made.
typedef struct stowage_text stowage_text;

/// Ends with NUL, which `size` does not count.
STOWAGE_C_API const char* stowage_text_data(const stowage_text* text);
STOWAGE_C_API size_t stowage_text_size(const stowage_text* text);
STOWAGE_C_API void stowage_text_free(stowage_text* text);

// --------------------------------------------------------------------------------------------
// graphs

/// A validated graph; immutable.
typedef struct stowage_graph stowage_graph;

/// How a file is read.
typedef struct stowage_import_options {
  size_t struct_size;
  int64_t
      alignment;  ///< Of every tensor; 0: what the format says, or 64 for ONNX and 16 for TFLite.
  int32_t no_views;     ///< 1: do not turn view-like ops of a model into views.
  int32_t no_in_place;  ///< 1: do not let element-wise ops of a model overwrite their inputs.
  int32_t fold;    ///< 1, -1: values computed from constants alone are constants, or are not. 0: as
                   ///< usual.
  uint32_t limit;  ///< Accept files that ask for this many times as much as usual; 0: 1.
  const char* const* dim_names;  ///< Symbolic dims, and their values.
  const int64_t* dim_values;
  size_t dim_count;
  const char* const* shape_names;  ///< Inputs, and their shapes.
  const int64_t* const* shapes;
  const size_t* shape_ranks;
  size_t shape_count;
} stowage_import_options;

/// Reads a graph from the bytes of a file of any format (docs/formats.md); it may be compressed
/// with gzip only if the format says so. `name` appears in errors and helps to recognise the
/// format. `options` may be NULL. A table of items is STOWAGE_UNSUPPORTED: see `stowage_pack`.
STOWAGE_C_API stowage_status* stowage_graph_from_bytes(const void* bytes, size_t size,
                                                       const char* name,
                                                       const stowage_import_options* options,
                                                       stowage_graph** graph);
/// The same for a file, with gzip or without.
STOWAGE_C_API stowage_status* stowage_graph_from_file(const char* path,
                                                      const stowage_import_options* options,
                                                      stowage_graph** graph);
/// `stowage.graph/1`, which `stowage_graph_from_bytes` reads back as an equal graph.
STOWAGE_C_API stowage_status* stowage_graph_to_json(const stowage_graph* graph,
                                                    stowage_text** json);
STOWAGE_C_API const char* stowage_graph_name(const stowage_graph* graph);
/// The tensors and ops of the root graph come first, then those of bodies.
STOWAGE_C_API size_t stowage_graph_tensor_count(const stowage_graph* graph);
STOWAGE_C_API size_t stowage_graph_op_count(const stowage_graph* graph);
/// NULL and -1 for a tensor or op that does not exist.
STOWAGE_C_API const char* stowage_graph_tensor_name(const stowage_graph* graph, uint32_t tensor);
STOWAGE_C_API int64_t stowage_graph_tensor_size(const stowage_graph* graph, uint32_t tensor);
STOWAGE_C_API const char* stowage_graph_op_name(const stowage_graph* graph, uint32_t op);
STOWAGE_C_API void stowage_graph_free(stowage_graph* graph);

// ------------------------------------------------------------------------- graphs built call by
// call

/// Collects memories, tensors and ops. Used by one thread at a time.
typedef struct stowage_builder stowage_builder;

/// Instead of the number of an input: an optional input that is omitted.
#define STOWAGE_NONE UINT32_MAX

/// Flags of tensors; docs/glossary.md has the rule for each.
enum {
  STOWAGE_INPUT = 1,
  STOWAGE_OUTPUT = 2,
  STOWAGE_CONSTANT = 4,
  STOWAGE_VARIABLE = 8,
  STOWAGE_NO_REUSE = 16,
  STOWAGE_EXTERNAL = 32,
  STOWAGE_ZERO_COPY = 64,
  STOWAGE_REUSABLE = 128,
  STOWAGE_SHAPE_DATA = 256
};

/// Flags of ops.
enum {
  STOWAGE_NO_TASK = 1,         ///< Touches no memory (reshape, view) and orders nothing.
  STOWAGE_OP_NO_REUSE = 2,     ///< Its outputs and workspaces share bytes with nothing.
  STOWAGE_FIXED_ADDRESS = 4,   ///< What it accesses has the same address in every run.
  STOWAGE_NO_RECOMPUTE = 8,    ///< A rewrite must not repeat it.
  STOWAGE_PADDED_INPUTS = 16,  ///< Its inputs are contiguous, each at its alignment.
  STOWAGE_PACKED_INPUTS = 32,  ///< Its inputs are contiguous without gaps, and are its output.
  STOWAGE_PADDED_OUTPUTS = 64,
  STOWAGE_PACKED_OUTPUTS = 128,
  STOWAGE_BRANCH = 256,  ///< Runs exactly one of its bodies.
  STOWAGE_LOOP = 512,    ///< Runs its only body any number of times.
  STOWAGE_CALL = 1024    ///< Runs its only body once.
};

typedef struct stowage_memory_info {
  size_t struct_size;
  const char* name;
  int64_t alignment;  ///< 0: 1.
  int64_t max_size;   ///< The largest single buffer; 0: no limit.
  const char* kind;   ///< NULL: "device".
  double bandwidth;   ///< Bytes per unit of the ops' cost; 0: unknown.
} stowage_memory_info;

typedef struct stowage_tensor_info {
  size_t struct_size;
  const char* name;
  int64_t size;       ///< In bytes.
  int64_t alignment;  ///< 0: the memory's.
  uint32_t memory;
  uint32_t flags;
  int32_t is_view;  ///< 1: the tensor lies `view_offset` bytes into `view_of`.
  uint32_t view_of;
  int64_t view_offset;
  const char* dtype;  ///< Informative, as is the shape.
  const int64_t* shape;
  size_t rank;
  uint32_t origin;  ///< In a rewritten graph: one more than the number of the tensor that it was;
                    ///< 0: none.
} stowage_tensor_info;

/// Output `output` of an op may overwrite, or must be, its input `input`; positions in the op's
/// lists.
typedef struct stowage_in_place {
  uint32_t output;
  uint32_t input;
} stowage_in_place;
typedef struct stowage_alias {
  uint32_t output;
  uint32_t input;
  int64_t offset;
} stowage_alias;

typedef struct stowage_workspace {
  int64_t size;
  int64_t alignment;  ///< 0: the memory's.
  uint32_t memory;
  int32_t no_reuse;
  int32_t session;   ///< 1: kept across graphs.
  int32_t reserved;  ///< 0.
} stowage_workspace;

/// Ops that run within another op. `content` has the body's own tensors and ops, and may be freed
/// once the op was added. `inputs` pairs a tensor outside with one of the body, `outputs` one of
/// the body with one outside, `carried` what an iteration makes with what the next one reads.
typedef struct stowage_body {
  const stowage_builder* content;
  const stowage_pair* inputs;
  size_t input_count;
  const stowage_pair* outputs;
  size_t output_count;
  const stowage_pair* carried;
  size_t carried_count;
} stowage_body;

typedef struct stowage_op_info {
  size_t struct_size;
  const char* name;
  const char* kind;
  const uint32_t* inputs;  ///< Tensors, or STOWAGE_NONE.
  size_t input_count;
  const uint32_t* outputs;
  size_t output_count;
  uint32_t flags;
  uint32_t stream;
  const stowage_in_place* in_place;
  size_t in_place_count;
  const stowage_alias* aliases;
  size_t alias_count;
  const stowage_workspace* workspaces;
  size_t workspace_count;
  const uint32_t* after;  ///< Earlier ops that must finish first.
  size_t after_count;
  const uint32_t* filled_outputs;  ///< Outputs and workspaces whose bytes must all be `fill_value`
  size_t filled_output_count;      ///< when the op starts.
  const uint32_t* filled_workspaces;
  size_t filled_workspace_count;
  uint32_t fill_value;  ///< Of each byte.
  uint32_t prefetch;    ///< One more than the number of the ring that its outputs pass; 0: none.
  const char* batch;    ///< Runs only if this batch is chosen; NULL or "": always.
  const char* backend;
  const char* layer;  ///< Informative, as is the next.
  const char* source;
  const stowage_body* bodies;
  size_t body_count;
  int64_t trip_count;  ///< Of a loop; 0: unknown.
  double cost;         ///< How long it takes, if `has_cost`; the same for the next.
  double flops;
  int32_t has_cost;
  int32_t has_flops;
  uint32_t
      origin;  ///< In a rewritten graph: one more than the number of the op that it was; 0: none.
} stowage_op_info;

/// NULL if there is no memory for it.
STOWAGE_C_API stowage_builder* stowage_builder_make(const char* name);
/// Each adds one and returns its number: 0, 1, 2 ... Nothing is checked before
/// `stowage_builder_build`, which reports the first mistake, also of a struct that cannot be read;
/// then STOWAGE_NONE is returned.
STOWAGE_C_API uint32_t stowage_builder_memory(stowage_builder* builder,
                                              const stowage_memory_info* memory);
STOWAGE_C_API uint32_t stowage_builder_tensor(stowage_builder* builder,
                                              const stowage_tensor_info* tensor);
STOWAGE_C_API uint32_t stowage_builder_op(stowage_builder* builder, const stowage_op_info* op);
STOWAGE_C_API uint32_t stowage_builder_ring(stowage_builder* builder, const char* name,
                                            int64_t size, uint32_t memory);
/// Two tensors that never share a byte.
STOWAGE_C_API void stowage_builder_apart(stowage_builder* builder, uint32_t a, uint32_t b);
/// Validates what was added, and leaves the builder empty. Without a memory the graph gets one.
STOWAGE_C_API stowage_status* stowage_builder_build(stowage_builder* builder,
                                                    stowage_graph** graph);
STOWAGE_C_API void stowage_builder_free(stowage_builder* builder);

// ---------------------------------------------------------------------------------------------
// plans

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

// ----------------------------------------------------------------------------------------
// allocators

/// A device, and an allocator of its memory at run time. A device may be freed before its
/// allocators.
typedef struct stowage_device stowage_device;
typedef struct stowage_allocator stowage_allocator;

typedef struct stowage_allocator_options {
  size_t struct_size;
  uint32_t stream;     ///< Of a caching allocator: the only one that it serves.
  int32_t any_thread;  ///< Of a caching allocator: 1: any thread may use it, one at a time.
  int64_t alignment;   ///< Of every address, a power of two, at least 64; 0: 512.
  int64_t least_page;  ///< 0: 2 MiB.
  int64_t limit;       ///< Of reserved memory; 0: the device's.
  double slack;  ///< 0: 0.005. How much may be reserved beyond need before pages are stitched.
} stowage_allocator_options;

typedef struct stowage_allocator_stats {
  size_t struct_size;
  int64_t requested;
  int64_t rounded;
  int64_t reserved;
  int64_t requested_peak;
  int64_t rounded_peak;
  int64_t reserved_peak;
  int64_t largest_idle;
  uint64_t live;
  uint64_t allocations;
  uint64_t failures;
} stowage_allocator_stats;

/// "cpu", "cuda" ... (`stowage devices`); `ordinal` says which if there are several; `limit` limits
/// its memory, 0 does not.
STOWAGE_C_API stowage_status* stowage_device_open(const char* name, int32_t ordinal, int64_t limit,
                                                  stowage_device** device);
STOWAGE_C_API void stowage_device_free(stowage_device* device);

/// For one stream and one thread. `options` may be NULL, here and below.
STOWAGE_C_API stowage_status* stowage_caching_allocator_make(
    const stowage_device* device, const stowage_allocator_options* options,
    stowage_allocator** allocator);
/// For any number of streams and threads.
STOWAGE_C_API stowage_status* stowage_stream_allocator_make(
    const stowage_device* device, const stowage_allocator_options* options,
    stowage_allocator** allocator);
/// `address` becomes NULL for a size of 0.
STOWAGE_C_API stowage_status* stowage_allocate(stowage_allocator* allocator, int64_t size,
                                               uint32_t stream, void** address);
/// Frees what was allocated with this size and stream; NULL is ignored.
STOWAGE_C_API void stowage_free(stowage_allocator* allocator, void* address, int64_t size,
                                uint32_t stream);
/// Work submitted to `stream` so far uses the allocation, which belongs to another stream.
STOWAGE_C_API stowage_status* stowage_record_use(stowage_allocator* allocator, void* address,
                                                 uint32_t stream);
/// Returns idle memory to the device, and says how many bytes.
STOWAGE_C_API int64_t stowage_trim(stowage_allocator* allocator);
STOWAGE_C_API stowage_status* stowage_allocator_figures(const stowage_allocator* allocator,
                                                        stowage_allocator_stats* stats);
/// Frees live memory too. No other thread may be using it.
STOWAGE_C_API void stowage_allocator_free(stowage_allocator* allocator);

#ifdef __cplusplus
}
#endif

#endif
