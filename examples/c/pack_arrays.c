/// The smallest use of Stowage: arrays go in, offsets come out.
#include <inttypes.h>
#include <stdio.h>

#include "stowage/c/pack.h"

int main(void) {
  /* Four buffers: the steps in which each is live, and its bytes. */
  const int64_t lower[] = {0, 1, 2, 3};
  const int64_t upper[] = {2, 3, 4, 5};
  const int64_t size[] = {2048, 3072, 1024, 4096};
  int64_t offsets[4];

  stowage_pack_input input = {sizeof input};
  input.count = 4;
  input.lower = lower;
  input.upper = upper;
  input.size = size;
  stowage_pack_result result = {sizeof result};
  if (stowage_pack(&input, NULL, offsets, &result) != STOWAGE_OK) {
    fprintf(stderr, "%s\n", result.message);
    return 1;
  }
  for (int k = 0; k < 4; ++k) printf("buffer %d: offset %" PRId64 "\n", k, offsets[k]);
  printf("peak %" PRId64 " bytes%s\n", result.peak, result.proven ? ", the smallest possible" : "");
  return 0;
}
