#ifndef STOWAGE_C_PACK_H
#define STOWAGE_C_PACK_H

/// Arrays go in, offsets come out: all that the library `stowage_pack` has. Part of stowage.h,
/// which states the conventions.

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
/// A `result` without a `struct_size` is STOWAGE_INVALID, and gets no message.
STOWAGE_C_API stowage_code stowage_pack(const stowage_pack_input* input,
                                        const stowage_pack_options* options, int64_t* offsets,
                                        stowage_pack_result* result);

#ifdef __cplusplus
}
#endif

#endif
