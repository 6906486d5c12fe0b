#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "io/onnx/draft.hpp"
#include "io/onnx/format.hpp"
#include "io/onnx/functions.hpp"
#include "io/onnx/import_nodes.hpp"
#include "io/onnx/read.hpp"
#include "io/onnx/shape/infer.hpp"
#include "rewrite/interface/rewrites.hpp"
#include "stowage/io.hpp"

/// From a model file to a Graph: read → inline functions → infer → describe → build.
namespace stowage {
namespace io::onnx {
namespace {

constexpr Bytes kDefaultAlignment{64};

/// Runtimes keep quantised weights as they are: kernels read them, and folding would multiply their size.
bool is_folded(const Op& op) { return op.kind != "DequantizeLinear"; }

/// An initializer that is also listed as an input is a default value; we treat it as a constant.
Status add_inputs(const Model& model, Draft& draft) {
  std::unordered_set<std::string_view> constants;
  for (const TensorInfo& tensor : model.graph.initializers) constants.insert(tensor.name);
  for (const ValueInfo& input : model.graph.inputs) {
    if (constants.contains(input.name)) continue;
    STOWAGE_TRY(const TensorId id, draft.define(input.name, TensorFlag::input, nullptr));
    static_cast<void>(id);
  }
  return Done{};
}

Status check_outputs(const Model& model, Draft& draft) {
  for (const ValueInfo& output : model.graph.outputs) {
    STOWAGE_TRY(const TensorId id,
                draft.read(output.name, nullptr));  // creates the tensor of a constant that only the caller reads
    static_cast<void>(id);
  }
  return Done{};
}

Result<GraphDescription> describe_model(const Model& model, ImportState& state) {
  Draft draft(state, model.graph, nullptr);
  STOWAGE_TRY_STATUS(add_inputs(model, draft));
  STOWAGE_TRY_STATUS(import_nodes(draft));
  STOWAGE_TRY_STATUS(check_outputs(model, draft));
  if (!state.unknown.empty()) return state.unknown.error(state.file);
  return GraphDescription{.name = model.graph.name,
                          .memories = {{.name = "memory", .alignment = state.alignment}},
                          .tensors = std::move(draft.tensors),
                          .ops = std::move(draft.ops)};
}

}  // namespace
}  // namespace io::onnx

Result<Graph> io::parse_onnx(std::string_view bytes, const std::string& file, const ImportOptions& options) {
  using namespace io::onnx;
  STOWAGE_TRY(Model read, read_model(bytes, file));
  STOWAGE_TRY(const Model model, inline_functions(std::move(read), file));
  STOWAGE_TRY(const ModelFacts facts, infer(model, options.dims, file));
  ImportState state{
      .facts = facts, .options = options, .file = file, .alignment = options.alignment.value_or(kDefaultAlignment)};
  STOWAGE_TRY(GraphDescription description, describe_model(model, state));
  Result<stowage::Graph> graph = stowage::Graph::build(std::move(description));
  if (!graph) graph.error().where.file = file;
  if (!graph || !options.fold.value_or(true)) return graph;
  return graph_of(rewrite::fold_constants(*graph, is_folded), file);
}

}  // namespace stowage
