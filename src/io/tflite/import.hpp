#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/tflite/file.hpp"
#include "io/tflite/model.hpp"
#include "stowage/graph.hpp"
#include "stowage/io.hpp"

/// From a TFLite model to a graph.
/// Tensor i of the first subgraph is tensor i of the graph, and operators are in the order of the file. A subgraph that
/// an operator runs becomes a body of that op, once for each operator that runs it.
///
/// WHILE. A loop in our graph has one body, which runs completely or not at all; a WHILE runs its condition once more
/// often than its body. Both subgraphs become one body: the condition's operators, an op `WHILE_TEST`, the body's
/// operators. The condition's arguments are views of the body's. The test reads the condition's result and every
/// argument, so the arguments, which are the results of the loop, are intact when the loop ends there. Rejected:
/// placing the condition after the body, as runtimes do; it would be needed a second time before the loop, and its
/// tensors would have two places.
///
/// Arguments are passed by reference. A constant or variable cannot be: nothing else may share its memory, and runtimes
/// copy it. An op `ARGUMENTS` at the start of the body writes such an argument.
namespace stowage::io::tflite {

/// The offset of every tensor, by subgraph and tensor; -1 for those that have none.
using Offsets = std::vector<std::vector<std::int32_t>>;

/// The tensor of the graph for a tensor of the model.
struct GraphPlace {
  BodyPath body;
  TensorId tensor;  ///< An id in that body.

  friend bool operator==(const GraphPlace&, const GraphPlace&) = default;
};

struct ImportedModel {
  GraphDescription description;
  /// By subgraph and tensor: one entry per occurrence of the subgraph in the graph; none for a subgraph that is never
  /// run.
  std::vector<std::vector<std::vector<GraphPlace>>> places;
};

struct ImportRules {
  ImportOptions options = {};
  /// If given, the graph describes a run with these offsets: two tensors that could share memory do so only if their
  /// offsets are equal, and a computed tensor without an offset is external.
  const Offsets* offsets = nullptr;
};

/// Fails with `ErrorCode::unsupported`, naming up to ten tensors of unknown size that some operator accesses; with
/// `ErrorCode::parse` on subgraphs that run themselves, are nested more than 64 deep or run so often that the graph
/// would be many times larger than the model, and on operators whose inputs and outputs do not match the subgraphs they
/// run.
Result<ImportedModel> import_model(const File& file, const ModelInfo& model, const ImportRules& rules);

}  // namespace stowage::io::tflite
