/// Plans a model file of any format, and prints where its tensors lie.
#include <inttypes.h>
#include <stdio.h>

#include "stowage/stowage.h"

static int fail(stowage_status* status) {
  fprintf(stderr, "%s\n", stowage_status_message(status));
  stowage_status_free(status);
  return 1;
}

static int show(const stowage_graph* graph, const stowage_plan* plan) {
  size_t count;
  const int64_t* const offsets = stowage_plan_offsets(plan, &count);
  for (size_t k = 0; k < count; ++k) {
    if (offsets[k] >= 0) printf("%10" PRId64 "  %s\n", offsets[k], stowage_graph_tensor_name(graph, (uint32_t)k));
  }
  stowage_figures figures = {sizeof figures};
  stowage_status* const status = stowage_plan_figures(plan, &figures);
  if (status) return fail(status);
  printf("peak %" PRId64 " bytes, no plan has fewer than %" PRId64 "\n", figures.peak, figures.lower_bound);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s MODEL\n", argv[0]);
    return 2;
  }
  stowage_graph* graph = NULL;
  stowage_plan* plan = NULL;
  stowage_status* status = stowage_graph_from_file(argv[1], NULL, &graph);
  if (!status) status = stowage_plan_make(graph, NULL, &plan);
  const int failed = status ? fail(status) : show(graph, plan);
  stowage_plan_free(plan);
  stowage_graph_free(graph);
  return failed;
}
