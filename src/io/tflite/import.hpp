#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/tflite/file.hpp"
#include "io/tflite/model.hpp"
#include "stowage/graph.hpp"
#include "stowage/io.hpp"

/// From a TFLite model to a graph.
///
/// Tensor i of the first subgraph is tensor i of the graph, operator by operator, in the file's order. A subgraph that
/// an operator runs is a body of that op, once for each operator that runs it.
///
/// WHILE. A loop of ours has one body, which runs as a whole or not at all; a WHILE runs its condition once more than
/// its body. Both subgraphs become the one body: the condition's operators, then an op `WHILE_TEST`, then the body's.
/// The condition's arguments are views of the body's. The test reads the condition's result and every argument:
/// whatever the condition does, the arguments are intact when the loop ends there, and they are its results. Rejected:
/// the condition behind the body, as a runtime does it, needs it a second time in front of the loop, and its tensors
/// would have two places.
///
/// Arguments go in by reference. A constant or variable cannot: nothing else may lie there, and runtimes copy it. Such
/// an argument is written by an op `ARGUMENTS` at the start of the body.
namespace stowage::io::tflite {

/// The offset of every tensor, by subgraph and tensor; -1 for those that have none.
using Offsets = std::vector<std::vector<std::int32_t>>;

/// Where a tensor of the model is in the graph.
struct GraphPlace {
  BodyPath body;
  TensorId tensor;  ///< Counts in that body.

  friend bool operator==(const GraphPlace&, const GraphPlace&) = default;
};

struct ImportedModel {
  GraphDescription description;
  /// By subgraph and tensor: once for each time that the subgraph is in the graph; never for one that nothing runs.
  std::vector<std::vector<std::vector<GraphPlace>>> places;
};

struct ImportRules {
  ImportOptions options = {};
  /// When given, the graph is what a run with these offsets does: two tensors that could share memory do so only where
  /// their offsets are equal, and a computed tensor without one is external.
  const Offsets* offsets = nullptr;
};

/// Fails with `ErrorCode::unsupported` naming up to ten tensors whose size is unknown and that some operator touches;
/// `ErrorCode::parse` on subgraphs that run themselves, are nested more than 64 deep or run so often that the graph
/// would be many times the model, and on operators whose inputs and outputs do not fit the subgraphs they run.
Result<ImportedModel> import_model(const File& file, const ModelInfo& model, const ImportRules& rules);

}  // namespace stowage::io::tflite
