#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/io.hpp"

/// What is measured: files of the data beside the project, files of examples/, and what is generated.
namespace stowage::bench {

/// Which instances: those whose name contains `only`.
struct Selection {
  std::string only = {};

  [[nodiscard]] bool has(const std::string& name) const { return name.find(only) != std::string::npos; }
};

/// A graph and how it comes in.
struct GraphInstance {
  std::string name;
  std::string path;  ///< Empty: generated.
  std::string text;  ///< As a file, for generated ones.
  Graph graph;

  /// `read_file` and `parse_graph`; of generated ones, `parse_graph` alone.
  [[nodiscard]] Result<Graph> import() const;
};

struct CsvInstance {
  std::string name;
  std::string path;
  CsvProblem table;
  std::optional<Bytes> capacity;  ///< That the file's name asks for, as in A.1048576.csv.

  [[nodiscard]] Result<CsvProblem> import() const;
};

/// A generated problem.
struct ProblemInstance {
  std::string name;
  Problem problem;
  std::optional<Bytes> optimum = {};  ///< Where the generator knows it.
};

/// Recorded traces of allocators.
[[nodiscard]] std::vector<std::string> trace_files();
/// False, and loud on standard error, when there is no data beside the project (STOWAGE_DATA, ../shared/data).
[[nodiscard]] bool have_data();

/// All, in the order of data, examples, generated; each by name. A file that cannot be read ends the program.
[[nodiscard]] std::vector<GraphInstance> graph_instances(const Selection& selection);
[[nodiscard]] std::vector<CsvInstance> csv_instances(const Selection& selection);
[[nodiscard]] std::vector<ProblemInstance> problem_instances(const Selection& selection);

}  // namespace stowage::bench
