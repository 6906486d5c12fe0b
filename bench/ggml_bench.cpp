// stowage_ggml_bench [--no-instructions] [WORD]: compares our drop-in for ggml's graph allocator with ggml's own, in
// one process and on the same graphs, which were recorded from ggml. Prints Markdown to standard output. WORD: only
// graphs whose name contains it. bench/README.md says how to run it.

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ggml_choices.hpp"
#include "instruction_count.hpp"
#include "machine.hpp"
#include "stock_ggml.hpp"
#include "stowage/io.hpp"
#include "stowage/planner.hpp"
#include "support/data.hpp"
#include "support/recorded_cgraph.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace stowage;
using namespace stowage::bench;
using stowage::ggml::RecordedCgraph;

struct Options {
  bool instructions = true;
  std::string only;
};

/// Times in microseconds. The best shows the cost of the code, the median what one usually observes.
struct Figures {
  Timing reserve;
  Timing allocate;
  std::optional<long long> instructions;
  long long bytes = 0;
};

Timing summary_of(std::vector<double>& microseconds) {
  return {*std::min_element(microseconds.begin(), microseconds.end()), median(microseconds)};
}

/// CPU time of this thread: on a busy machine, a reserve of a millisecond is likely to be interrupted, one of a tenth
/// is not.
template <class Work>
double microseconds_of(Work&& work) {
  const auto worked = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
  };
  const double start = worked();
  work();
  return worked() - start;
}

/// Measures the first reserve of a new allocator.
double first_reserve(const GraphAllocatorApi& api, RecordedCgraph& graph, long long& bytes) {
  graph.forget_memory();
  ggml_gallocr_t allocator = api.create(ggml_backend_cpu_buffer_type());
  const double time = microseconds_of([&] { api.reserve(allocator, graph.get()); });
  bytes = static_cast<long long>(api.buffer_size(allocator, 0));
  api.destroy(allocator);
  return time;
}

/// Measures both alternately, so that other load on the machine affects both.
std::array<Figures, 2> measure_both(const std::array<GraphAllocatorApi, 2>& apis, RecordedCgraph& graph,
                                    const Options& options) {
  std::array<Figures, 2> result;
  std::array<std::vector<double>, 2> reserves;
  std::array<std::vector<double>, 2> allocations;
  std::array<ggml_gallocr_t, 2> allocators{};
  for (std::size_t i = 0; i < 2; ++i) {
    allocators[i] = apis[i].create(ggml_backend_cpu_buffer_type());
    graph.forget_memory();
    apis[i].reserve(allocators[i], graph.get());
  }
  for (int round = 0; round < 300; ++round) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (round < 50) reserves[i].push_back(first_reserve(apis[i], graph, result[i].bytes));
      graph.forget_memory();
      allocations[i].push_back(microseconds_of([&] { apis[i].allocate(allocators[i], graph.get()); }));
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    result[i].reserve = summary_of(reserves[i]);
    result[i].allocate = summary_of(allocations[i]);
    graph.forget_memory();
    if (options.instructions) {
      const auto allocate = [&] { apis[i].allocate(allocators[i], graph.get()); };
      result[i].instructions = count_instructions(
          [&] {
            allocate();
            graph.forget_memory();
          },
          allocate);
    }
    apis[i].destroy(allocators[i]);
  }
  return result;
}

long long peak_of(const Graph& graph) {
  const Result<Planned> planned = plan(graph);
  return planned && planned->plan ? planned->plan->peak().value() : -1;
}

std::string count_or_dash(const std::optional<long long>& count) { return count ? with_commas(*count) : "–"; }

struct Tables {
  Table bytes{{"graph", "nodes", "ggml", "ggml's choices, our layout", "/ ggml", "the adapter", "/ ggml"}};
  Table times{{"graph", "reserve µs: ggml", "ours", "ratio", "alloc_graph µs: ggml", "ours", "ratio",
               "instructions: ggml", "ours", "ratio"}};
  double placed = 0;
  double adapted = 0;
  int graphs = 0;
};

void measure_graph(const std::filesystem::path& file, const std::array<GraphAllocatorApi, 2>& apis,
                   const Options& options, Tables& tables) {
  const Graph graph = *parse_graph(*read_file(file.string()), file.string());
  RecordedCgraph cgraph(graph);
  const auto [stock, ours] = measure_both(apis, cgraph, options);
  const long long placed = peak_of(with_ggml_choices(graph));
  const auto share = [&](long long bytes) { return static_cast<double>(bytes) / static_cast<double>(stock.bytes); };
  tables.placed += share(placed);
  tables.adapted += share(ours.bytes);
  ++tables.graphs;
  tables.bytes.add({graph.name(), std::to_string(cgraph.get()->n_nodes), with_commas(stock.bytes), with_commas(placed),
                    fmt::format("{:.3f}", share(placed)), with_commas(ours.bytes),
                    fmt::format("{:.3f}", share(ours.bytes))});
  const auto micro = [](double value) { return fmt::format("{:.1f}", value); };
  const auto times = [&](double a, double b) { return fmt::format("{:.2f}", b / a); };
  const bool counted = stock.instructions && ours.instructions;
  tables.times.add(
      {graph.name(), micro(stock.reserve.median), micro(ours.reserve.median),
       times(stock.reserve.median, ours.reserve.median), micro(stock.allocate.median), micro(ours.allocate.median),
       times(stock.allocate.median, ours.allocate.median), count_or_dash(stock.instructions),
       count_or_dash(ours.instructions),
       counted ? times(static_cast<double>(*stock.instructions), static_cast<double>(*ours.instructions)) : "–"});
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--no-instructions") {
      options.instructions = false;
    } else {
      options.only = word;
    }
  }
  const std::array<GraphAllocatorApi, 2> apis = {stock_allocator(), adapter_allocator(STOWAGE_GGML_ADAPTER)};
  const std::vector<std::filesystem::path> files = testing::graph_files();
  if (!apis[1].create || files.empty()) {
    std::fprintf(stderr, "stowage_ggml_bench: %s\n",
                 files.empty() ? "no data files (set STOWAGE_DATA)" : "the adapter cannot be loaded");
    return 1;
  }
  print_header();
  Tables tables;
  for (const std::filesystem::path& file : files) {
    if (file.filename().string().find(options.only) != std::string::npos) measure_graph(file, apis, options, tables);
  }
  tables.bytes.add({"mean", "", "", "", fmt::format("{:.3f}", tables.placed / tables.graphs), "",
                    fmt::format("{:.3f}", tables.adapted / tables.graphs)});
  std::puts("## Bytes\n");
  tables.bytes.print();
  std::puts("## Times (medians of CPU time)\n");
  tables.times.print();
  return 0;
}
