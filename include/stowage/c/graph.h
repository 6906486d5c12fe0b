#ifndef STOWAGE_C_GRAPH_H
#define STOWAGE_C_GRAPH_H

/// Statuses, texts and graphs. Part of stowage.h, which states the conventions.

#include "stowage/c/pack.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/// Reads a graph from the bytes of a file of any format (docs/formats.md), not compressed. `name`
/// appears in errors and helps to recognise the format. `options` may be NULL. A table of items is
/// STOWAGE_UNSUPPORTED: see `stowage_pack`.
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

#ifdef __cplusplus
}
#endif

#endif
