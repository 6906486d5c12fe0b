#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "generate_streams.hpp"
#include "graph/interface/dependencies.hpp"
#include "sections.hpp"
#include "stowage/stowage.hpp"
#include "table.hpp"

/// What runs do besides the ops, compared with a simple schedule, and what that costs the host.
namespace stowage::bench {
namespace {

struct Counts {
  std::size_t waits = 0;
  std::size_t fills = 0;
  std::size_t copies = 0;
  std::size_t events = 0;
};

Counts counts_of(const Program& program) {
  Counts counts;
  for (const ProgramStep& step : program.steps) {
    counts.waits += step.kind == ProgramStep::Kind::wait ? 1 : 0;
    counts.fills += step.kind == ProgramStep::Kind::fill ? 1 : 0;
    counts.copies += step.kind == ProgramStep::Kind::copy ? 1 : 0;
    counts.events += step.kind == ProgramStep::Kind::record ? 1 : 0;
  }
  return counts;
}

/// A wait wherever a dependency crosses streams, and a fill for each tensor or workspace that must hold a value. Bodies
/// wait for their op's stream and are waited for, on every other stream that they use.
Counts naive_counts(const Graph& graph) {
  Counts counts;
  const Dependencies dependencies = find_dependencies(graph, WantedDependencies::waited_for);
  for (const Dependency& each : dependencies.all()) {
    const bool crosses = graph.op(each.to).stream != graph.op(each.from).stream;
    counts.waits += crosses && each.kind != DependencyKind::stream ? 1 : 0;
  }
  for (const Op& op : graph.ops()) counts.fills += op.zero_fill.outputs.size() + op.zero_fill.workspaces.size();
  for (std::size_t s = 1; s < graph.scopes().size(); ++s) {
    const Scope& scope = graph.scopes()[s];
    std::vector<StreamId> streams;
    for (std::size_t i = 0; i < scope.op_count; ++i) {
      const StreamId stream = graph.op(OpId(scope.first_op.index() + i)).stream;
      const bool other = stream != graph.op(scope.op).stream;
      if (other && std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
    }
    counts.waits += 2 * streams.size();
  }
  return counts;
}

/// The same graph with small tensors, so that fills take no time, where every tenth op wants its output cleared and the
/// caller's buffers are used as they are.
Graph constrained(const Graph& graph) {
  GraphDescription description = graph.description();
  for (std::size_t k = 0; k < description.ops.size(); k += 10) {
    Op& op = description.ops[k];
    if (!op.outputs.empty() && op.aliases.empty()) op.zero_fill.outputs = {0};
  }
  for (Tensor& tensor : description.tensors) {
    tensor.size = Bytes(64);
    if (tensor.flags.any_of({TensorFlag::input, TensorFlag::output})) tensor.flags |= TensorFlag::zero_copy;
  }
  description.name += ", with fills and zero copy";
  return Graph::build(std::move(description)).value();
}

void add_row(Table& table, const Graph& graph) {
  const Result<Planned> planned = plan(graph, {.time_limit = std::chrono::milliseconds(50)});
  if (!planned || !planned->plan) return;
  const Counts ours = counts_of(*planned->plan->program);
  const Counts naive = naive_counts(graph);
  if (ours.waits + naive.waits + ours.fills + ours.copies == 0) return;
  table.add({graph.name(), std::to_string(graph.ops().size()), std::to_string(graph.stream_count()),
             std::to_string(naive.waits), std::to_string(ours.waits), std::to_string(ours.events),
             std::to_string(naive.fills), std::to_string(ours.fills), std::to_string(ours.copies)});
}

/// The graphs of the examples and of docs/formats.md.
std::vector<Graph> documented_graphs() {
  const std::filesystem::path source(STOWAGE_SOURCE_DIR);
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(source / "examples")) {
    if (entry.path().extension() == ".json") texts.push_back(read_file(entry.path().string()).value());
  }
  const std::string page = read_file((source / "docs/formats.md").string()).value();
  const std::string begin = "```json\n{\"schema\":\"stowage.graph/1\"";
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1))
    texts.push_back(page.substr(at + 8, page.find("```", at + 8) - at - 8));
  std::vector<Graph> graphs;
  for (const std::string& text : texts) {
    if (Result<Graph> graph = parse_graph(text, "")) graphs.push_back(std::move(graph).value());
  }
  return graphs;
}

/// Microseconds of a run whose ops do nothing, and of finding out that nothing has changed since the last.
void add_costs(Table& table, const Graph& graph, const Effort& effort) {
  GraphAllocator allocator(cpu_device().buffer_type());
  const Result<const Allocation*> made = allocator.allocate(graph);
  if (!made) return;
  const Allocation& allocation = **made;
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (const Binding& binding : allocation.plan.bindings) {
    buffers.push_back(cpu_device().buffer_type().allocate(binding.size + binding.alignment).value());
    std::byte* const base = buffers.back()->base();
    const auto gap =
        (0 - reinterpret_cast<std::uintptr_t>(base)) % static_cast<std::uintptr_t>(binding.alignment.value());
    const Status bound = allocator.bind(binding.tensor, {base + gap, binding.size, cpu_device().id()});
    if (!bound) fmt::print(stderr, "{}\n", stowage::to_string(bound.error()));
  }
  const RunOps ops{.run = [](const OpCall&) -> Status { return Done{}; }};
  Effort many = effort;
  many.at_most = 2000;
  const Timing hit = measure(many, [&] { return allocator.allocate(graph).has_value(); });
  const Timing running = measure(many, [&] { return run(graph, allocation, cpu_device(), ops).has_value(); });
  const Counts counts = counts_of(*allocation.plan.program);
  Bytes filled;
  for (const Clear& clear : allocation.plan.clears) filled += clear.size;
  table.add({graph.name(), std::to_string(graph.ops().size()), std::to_string(counts.waits),
             std::to_string(counts.events), std::to_string(counts.fills), std::to_string(filled.value()),
             fmt::format("{:.1f} / {:.1f}", hit.best * 1e3, hit.median * 1e3),
             fmt::format("{:.1f} / {:.1f}", running.best * 1e3, running.median * 1e3)});
}

}  // namespace

std::vector<Limited> bench_runs(const Options& options) {
  fmt::print(
      "## Runs\n\nWhat a run does besides the ops. Simple: a wait wherever a dependency crosses streams, a fill for "
      "each "
      "tensor or workspace. Only graphs that need any of it.\n\n");
  Table steps({"graph", "ops", "streams", "waits, simple", "waits", "events", "fills, simple", "fills", "copies"});
  for (const Graph& graph : documented_graphs()) add_row(steps, graph);
  const Graph weave = make_weave(1000, 4);
  const Graph pipeline = make_pipeline(1000, 4);
  for (const Graph& graph : {weave, pipeline, constrained(weave)}) add_row(steps, graph);
  steps.print();
  fmt::print("Microseconds (best / median) on the CPU, with ops that do nothing; fills are done.\n\n");
  Table costs({"graph", "ops", "waits", "events", "fills", "bytes filled", "allocate again", "run"});
  for (const Graph& graph : {weave, pipeline, constrained(weave)}) add_costs(costs, graph, options.effort);
  costs.print();
  return {};
}

}  // namespace stowage::bench
