#include "show_plan.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace examples {
namespace {

using namespace stowage;

int fail(const Error& error) {
  std::fprintf(stderr, "%s\n", to_string(error).c_str());
  return 1;
}

/// Which tensors need how many bytes at the same time, and during which op.
std::string cause(const Planned& planned) {
  ExplainOptions options;
  options.time_limit = std::chrono::seconds(0);  // only why, not what would change it
  return explain(planned, options).cause;
}

void print_figures(const Graph& graph, const Planned& planned, const Plan& plan) {
  std::printf("%s: %zu ops, %zu tensors\n", graph.name().c_str(), graph.ops().size(), graph.tensors().size());
  std::printf("  peak       %10s  %s\n", to_human(plan.peak()).c_str(),
              plan.proven_optimal() ? "(proven optimal)" : "");
  std::printf("  bound      %10s\n", to_human(plan.lower_bound()).c_str());
  std::printf("  no reuse   %10s\n", to_human(planned.naive).c_str());
  std::printf("  %s\n", cause(planned).c_str());
}

void print_place(const Graph& graph, const Plan& plan, const Placement& place) {
  const Bytes end = place.offset + place.size;
  std::printf("  %-15s bytes %7lld to %7lld of arena '%s'\n", graph.tensor(place.tensor).name.c_str(),
              static_cast<long long>(place.offset.value()), static_cast<long long>(end.value()),
              plan.arenas[place.arena.index()].name.c_str());
}

}  // namespace

int show_plan(const Result<Graph>& graph, const std::vector<std::string>& names, const std::string& file) {
  if (!graph) return fail(graph.error());
  if (!file.empty()) {
    if (const Status written = write_file(file, graph_to_json(*graph)); !written) return fail(written.error());
  }
  const Result<Planned> planned = plan(*graph);
  if (!planned) return fail(planned.error());
  const Plan& plan = planned->plan.value();  // without a capacity there is always a plan
  print_figures(*graph, *planned, plan);
  for (const Placement& place : plan.placements) {
    const std::string& name = graph->tensor(place.tensor).name;
    if (std::find(names.begin(), names.end(), name) != names.end()) print_place(*graph, plan, place);
  }
  return 0;
}

}  // namespace examples
