#include "instances.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "exit.hpp"
#include "generate_graphs.hpp"
#include "generate_problems.hpp"
#include "stowage/pack.hpp"

namespace stowage::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOps = 3000;

fs::path data_dir() {
  const char* const given = std::getenv("STOWAGE_DATA");
  return given && *given ? fs::path(given) : fs::path(STOWAGE_SOURCE_DIR) / "../shared/data";
}

/// The files of a folder whose name ends in `suffix`, compressed or not, sorted by name;
/// none if the folder does not exist.
std::vector<fs::path> files_in(const fs::path& folder, const std::string& suffix) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(suffix) || name.ends_with(suffix + ".gz")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// "A" for "A.1048576.csv", "Y_1" for "Y_1.csv.gz", "pangu_2.6B" for "pangu_2.6B.csv.gz".
struct FileName {
  std::string name;
  std::optional<Bytes> capacity = {};
};

FileName name_of(const fs::path& file) {
  std::string name = file.filename().string();
  for (const std::string suffix : {".gz", ".json", ".csv"}) {
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  }
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || name.find_first_not_of("0123456789", dot + 1) != std::string::npos) return {name};
  return {name.substr(0, dot), Bytes(std::stoll(name.substr(dot + 1)))};
}

template <class Parse>
auto read_and_parse(const std::string& path, Parse&& parse) -> decltype(parse(std::string(), path)) {
  STOWAGE_TRY(const std::string text, read_file(path));
  return parse(text, path);
}

void add_generated(std::vector<GraphInstance>& instances, const Selection& selection, std::string name, Graph graph) {
  if (!selection.has(name)) return;
  std::string text = graph_to_json(graph);
  instances.push_back({std::move(name), {}, std::move(text), std::move(graph)});
}

}  // namespace

Result<Graph> GraphInstance::import() const {
  return path.empty() ? parse_graph(text, name) : read_and_parse(path, parse_graph);
}

Result<CsvProblem> CsvInstance::import() const { return read_and_parse(path, parse_csv); }

std::vector<std::string> trace_files() {
  std::vector<std::string> names;
  for (const fs::path& file : files_in(data_dir() / "traces", ".csv")) names.push_back(file.string());
  return names;
}

bool have_data() {
  if (fs::is_directory(data_dir() / "graphs") && fs::is_directory(data_dir() / "csv")) return true;
  fmt::print(stderr, "{0}\n** NO DATA (set STOWAGE_DATA). Real graphs and CSVs are MISSING from the tables.\n{0}\n",
             std::string(100, '*'));
  return false;
}

std::vector<GraphInstance> graph_instances(const Selection& selection) {
  std::vector<GraphInstance> instances;
  for (const fs::path& folder : {data_dir() / "graphs", fs::path(STOWAGE_SOURCE_DIR) / "examples"}) {
    for (const fs::path& file : files_in(folder, ".json")) {
      const std::string name = name_of(file).name;
      if (!selection.has(name)) continue;
      instances.push_back({name, file.string(), {}, value_or_exit(read_and_parse(file.string(), parse_graph))});
    }
  }
  add_generated(instances, selection, "llm_3000", make_llm(kOps, Streams::one));
  add_generated(instances, selection, "llm_3000_two_streams", make_llm(kOps, Streams::two));
  add_generated(instances, selection, "training_3000", make_training(kOps, Streams::one));
  add_generated(instances, selection, "training_3000_two_streams", make_training(kOps, Streams::two));
  add_generated(instances, selection, "unet_3000", make_unet(kOps));
  return instances;
}

std::vector<CsvInstance> csv_instances(const Selection& selection) {
  std::vector<CsvInstance> instances;
  for (const fs::path& file : files_in(data_dir() / "csv", ".csv")) {
    const auto [name, capacity] = name_of(file);
    if (!selection.has(name)) continue;
    instances.push_back({name, file.string(), value_or_exit(read_and_parse(file.string(), parse_csv)), capacity});
  }
  return instances;
}

std::vector<ProblemInstance> problem_instances(const Selection& selection) {
  constexpr std::size_t kAdversarySize = 16;
  std::vector<ProblemInstance> instances;
  for (const std::size_t n : {50U, 200U, 1000U, 10'000U})
    instances.push_back({fmt::format("tight_{}", n), make_tight(n), kTightHeight});
  for (const std::size_t n : {1000U, 10'000U, 100'000U})
    instances.push_back({fmt::format("heavy_{}", n), make_heavy_tail(n)});
  for (const std::size_t n : {1000U, 10'000U}) instances.push_back({fmt::format("dense_{}", n), make_dense(n)});
  for (Adversary& each : make_adversaries(kAdversarySize)) {
    const Bytes bound = lower_bound(each.problem).bytes;
    instances.push_back({std::move(each.name), std::move(each.problem), bound});
  }
  std::erase_if(instances, [&](const ProblemInstance& each) { return !selection.has(each.name); });
  return instances;
}

}  // namespace stowage::bench
