// stowage_bench [--quick] [--only WORD] [--minimalloc PATH] [SECTION…]: times and peaks of the whole pipeline, as
// Markdown on standard output.

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "machine.hpp"
#include "sections.hpp"
#include "table.hpp"

namespace {

using namespace stowage::bench;

constexpr std::string_view kUsage =
    "usage: stowage_bench [--quick] [--only WORD] [--minimalloc PATH] [SECTION…]\n"
    "  --quick            fewer repetitions and seeds, shorter time limits\n"
    "  --only WORD        only instances whose name contains WORD\n"
    "  --minimalloc PATH  a MiniMalloc binary to compare with (solvers, challenging)\n"
    "  SECTION            curve, challenging, proofs, solvers, stages, replan, occupancy, partition, streams,\n"
    "                     runs, runtime; all by default\n"
    "STOWAGE_DATA is the folder of the data files (default: ../shared/data).\n";

struct Section {
  std::string_view name;
  std::vector<Limited> (*run)(const Options&);
};
// The curve comes first, because its child processes inherit the memory in use by then.
constexpr std::array kSections = {Section{"curve", &bench_curve},           Section{"challenging", &bench_challenging},
                                  Section{"proofs", &bench_proofs},         Section{"solvers", &bench_solvers},
                                  Section{"stages", &bench_stages},         Section{"replan", &bench_replanning},
                                  Section{"occupancy", &bench_occupancies}, Section{"partition", &bench_partition},
                                  Section{"streams", &bench_streams},       Section{"runs", &bench_runs},
                                  Section{"runtime", &bench_runtime}};

struct Arguments {
  Options options;
  std::vector<Section> sections;
};

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto section =
        std::find_if(kSections.begin(), kSections.end(), [&](const Section& each) { return each.name == word; });
    if (section != kSections.end()) {
      arguments.sections.push_back(*section);
    } else if (word == "--quick") {
      arguments.options.effort = kQuick;
    } else if (word == "--only" && i + 1 < argc) {
      arguments.options.selection.only = argv[++i];
    } else if (word == "--minimalloc" && i + 1 < argc) {
      arguments.options.minimalloc = argv[++i];
    } else {
      return std::nullopt;
    }
  }
  if (arguments.sections.empty()) arguments.sections.assign(kSections.begin(), kSections.end());
  return arguments;
}

void print_limits(const std::vector<Limited>& limited) {
  if (limited.empty()) return;
  Table table({"figure", "limit", "time", "median within"});
  for (const Limited& each : limited) {
    table.add({each.what, to_text(each.limit), to_text(each.time), each.time.median <= each.limit ? "yes" : "NO"});
  }
  fmt::print("## Limits\n\n");
  table.print();
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Arguments> arguments = parse(argc, argv);
  if (!arguments) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  print_header();
  if (!have_data()) fmt::print("**No data files: real graphs and CSVs are missing below.**\n\n");
  std::vector<Limited> limited;
  for (const Section& section : arguments->sections) {
    const std::vector<Limited> more = section.run(arguments->options);
    limited.insert(limited.end(), more.begin(), more.end());
    std::fflush(stdout);
  }
  print_limits(limited);
  return 0;
}
