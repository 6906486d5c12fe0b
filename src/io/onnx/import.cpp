#include <string>
#include <string_view>
#include <utility>

#include "io/onnx/draft.hpp"
#include "io/onnx/format.hpp"
#include "io/onnx/functions.hpp"
#include "io/onnx/import_model.hpp"
#include "io/onnx/import_nodes.hpp"
#include "io/onnx/open_dims.hpp"
#include "io/onnx/read.hpp"
#include "io/onnx/shape/infer.hpp"
#include "io/onnx/sort_nodes.hpp"
#include "rewrite/interface/rewrites.hpp"
#include "stowage/io.hpp"

/// From a model file to a Graph: read → inline functions → sort nodes → infer → describe → build.
namespace stowage {
namespace io::onnx {
namespace {

constexpr Bytes kDefaultAlignment{64};

/// Runtimes keep quantised weights as they are: kernels read them, and folding would multiply their size.
bool is_folded(const Op& op) { return op.kind != "DequantizeLinear"; }

/// An initializer that is also listed as an input is a default value; we treat it as a constant.
Status add_inputs(const Model& model, Draft& draft) {
  for (const ValueInfo* const input : inputs_without_default(model.graph)) {
    STOWAGE_TRY(const TensorId id, draft.define(input->name, TensorFlag::input, nullptr));
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
  return GraphDescription{.name = model.graph.name,
                          .memories = {{.name = "memory", .alignment = state.alignment}},
                          .tensors = std::move(draft.tensors),
                          .ops = std::move(draft.ops)};
}

}  // namespace

Result<Model> ready_model(Model read, const std::string& file) {
  STOWAGE_TRY(Model model, inline_functions(std::move(read), file));
  sort_nodes(model.graph);
  return model;
}

Result<stowage::Graph> import_model(Model& model, const ImportOptions& options, const std::string& file, Met& met) {
  shape::DimValues dims = options.dims;
  STOWAGE_TRY_STATUS(apply_shapes(model.graph, options.shapes, dims, file));
  STOWAGE_TRY(const ModelFacts facts, infer(model, dims, file, &met.agreeing));
  ImportState state{
      .facts = facts, .options = options, .file = file, .alignment = options.alignment.value_or(kDefaultAlignment)};
  Result<GraphDescription> description = describe_model(model, state);
  met.unknown = std::move(state.unknown);
  if (!description) return description.error();
  if (!met.unknown.empty()) return met.unknown.error(file, missing_options(model.graph, dims));
  Result<stowage::Graph> graph = stowage::Graph::build(std::move(description).value());
  if (!graph) graph.error().where.file = file;
  return graph;
}

}  // namespace io::onnx

Result<Graph> io::parse_onnx(std::string_view bytes, const std::string& file, const ImportOptions& options) {
  STOWAGE_TRY(onnx::Model read, onnx::read_model(bytes, file));
  STOWAGE_TRY(onnx::Model model, onnx::ready_model(std::move(read), file));
  onnx::Met met;
  Result<Graph> graph = onnx::import_model(model, options, file, met);
  if (!graph || !options.fold.value_or(true)) return graph;
  return graph_of(rewrite::fold_constants(*graph, onnx::is_folded), file);
}

}  // namespace stowage
