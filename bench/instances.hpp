#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/io.hpp"

/// The instances to measure: data files, files of examples/, and generated ones.
namespace stowage::bench {

/// Selects the instances whose name contains `only`.
struct Selection {
  std::string only = {};

  [[nodiscard]] bool has(const std::string& name) const { return name.find(only) != std::string::npos; }
};

/// A graph and its source.
struct GraphInstance {
  std::string name;
  std::string path;  ///< Empty: generated.
  std::string text;  ///< For generated ones: the contents of a graph file.
  Graph graph;

  /// `read_file` and `parse_graph`; for generated ones, only `parse_graph`.
  [[nodiscard]] Result<Graph> import() const;
};

struct CsvInstance {
  std::string name;
  std::string path;
  CsvProblem table;
  std::optional<Bytes> capacity;  ///< From the file's name, as in A.1048576.csv.

  [[nodiscard]] Result<CsvProblem> import() const;
};

/// A generated problem.
struct ProblemInstance {
  std::string name;
  Problem problem;
  std::optional<Bytes> optimum = {};  ///< If the generator knows it.
};

/// Recorded traces of allocators.
[[nodiscard]] std::vector<std::string> trace_files();
/// Returns false, after a warning on standard error, if there are no data files (STOWAGE_DATA, ../shared/data).
[[nodiscard]] bool have_data();

/// All selected instances: data files, then examples, then generated ones; each sorted by name. Ends the program if a
/// file cannot be read.
[[nodiscard]] std::vector<GraphInstance> graph_instances(const Selection& selection);
[[nodiscard]] std::vector<CsvInstance> csv_instances(const Selection& selection);
[[nodiscard]] std::vector<ProblemInstance> problem_instances(const Selection& selection);

}  // namespace stowage::bench
