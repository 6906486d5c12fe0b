/// A compiler's memory pass, before and after: greedy by size, as many compilers have it, and the one
/// call that replaces it. The program is a list of ops; each writes one buffer and reads earlier ones.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "stowage/c/pack.h"

enum { kOps = 12, kReads = 2, kNothing = -1 };

/* What the compiler knows of an op: the bytes of its result, which buffers it reads, and whether it may
 * write its result over the first of them. */
typedef struct Op {
  int64_t bytes;
  int reads[kReads];
  int in_place;
} Op;

static const Op program[kOps] = {
    {147456, {kNothing, kNothing}, 0}, {884736, {0, kNothing}, 0}, {884736, {1, kNothing}, 1},
    {221184, {2, kNothing}, 0},        {221184, {3, kNothing}, 1}, {36864, {4, kNothing}, 0},
    {331776, {5, kNothing}, 0},        {331776, {6, kNothing}, 1}, {331776, {7, kNothing}, 0},
    {36864, {8, kNothing}, 0},         {36864, {9, 5}, 1},         {1000, {10, kNothing}, 0},
};

/* The results of the analysis: one buffer per op, live from its op to the last that reads it. */
typedef struct Buffers {
  int64_t lower[kOps], upper[kOps], size[kOps], offset[kOps];
} Buffers;

static void find_lives(Buffers* buffers) {
  for (int op = 0; op < kOps; ++op) {
    buffers->lower[op] = op;
    buffers->upper[op] = op + 1;
    buffers->size[op] = program[op].bytes;
    for (int k = 0; k < kReads; ++k) {
      if (program[op].reads[k] != kNothing) buffers->upper[program[op].reads[k]] = op + 1;
    }
  }
}

static int meet(const Buffers* buffers, int a, int b) {
  return buffers->lower[a] < buffers->upper[b] && buffers->lower[b] < buffers->upper[a];
}

/* Before: the largest first, each at the lowest offset where it fits. */
static int64_t lowest_offset(const Buffers* buffers, const int* placed, int count, int buffer) {
  int64_t offset = 0;
  for (int k = 0; k < count; ++k) {
    const int other = placed[k];
    const int64_t end = buffers->offset[other] + buffers->size[other];
    const int overlap = offset < end && buffers->offset[other] < offset + buffers->size[buffer];
    if (!meet(buffers, buffer, other) || !overlap) continue;
    offset = end;
    k = -1; /* that one is passed; look at all again */
  }
  return offset;
}

static const Buffers* sorted;
static int larger_first(const void* a, const void* b) {
  const int64_t left = sorted->size[*(const int*)a], right = sorted->size[*(const int*)b];
  return left != right ? (left < right) - (left > right) : *(const int*)a - *(const int*)b;
}

static int64_t greedy_by_size(Buffers* buffers) {
  int order[kOps];
  int64_t peak = 0;
  for (int k = 0; k < kOps; ++k) order[k] = k;
  sorted = buffers;
  qsort(order, kOps, sizeof order[0], larger_first);
  for (int k = 0; k < kOps; ++k) {
    const int buffer = order[k];
    buffers->offset[buffer] = lowest_offset(buffers, order, k, buffer);
    const int64_t end = buffers->offset[buffer] + buffers->size[buffer];
    if (end > peak) peak = end;
  }
  return peak;
}

/* After. The in-place pairs come for free: "at the same address, or apart" is for the solver to decide. */
static int64_t with_stowage(Buffers* buffers, int* proven) {
  stowage_join joins[kOps];
  stowage_pack_input input = {sizeof input};
  stowage_pack_result result = {sizeof result};
  input.count = kOps;
  input.lower = buffers->lower;
  input.upper = buffers->upper;
  input.size = buffers->size;
  input.joins = joins;
  for (int op = 0; op < kOps; ++op) {
    if (!program[op].in_place) continue;
    const stowage_join join = {(uint32_t)program[op].reads[0], (uint32_t)op, 0};
    joins[input.join_count++] = join;
  }
  if (stowage_pack(&input, NULL, buffers->offset, &result) != STOWAGE_OK) {
    fprintf(stderr, "%s\n", result.message);
    exit(1);
  }
  *proven = result.proven;
  return result.peak;
}

int main(void) {
  Buffers buffers;
  int proven;
  find_lives(&buffers);
  const int64_t before = greedy_by_size(&buffers);
  const int64_t after = with_stowage(&buffers, &proven);
  printf("greedy by size: %" PRId64 " bytes\n", before);
  printf("stowage_pack:   %" PRId64 " bytes%s\n", after, proven ? ", the smallest possible" : "");
  return after <= before ? 0 : 1;
}
