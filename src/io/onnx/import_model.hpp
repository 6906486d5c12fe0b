#pragma once

#include <string>

#include "io/onnx/model.hpp"
#include "io/onnx/shape/declared.hpp"
#include "io/onnx/unknown_sizes.hpp"
#include "stowage/graph.hpp"
#include "stowage/io.hpp"

/// The stages between a model as it was read and a graph.
namespace stowage::io::onnx {

/// Functions are inlined and nodes sorted. Fails as `inline_functions` does.
Result<Model> ready_model(Model read, const std::string& file);

/// What an import met.
struct Met {
  UnknownSizes unknown;       ///< They are also the error, unless another one came before.
  shape::DimValues agreeing;  ///< As in `infer`.
};

/// The graph of a ready model. Puts `options.shapes` into the model. Fails as `import_bytes` says.
Result<stowage::Graph> import_model(Model& model, const ImportOptions& options, const std::string& file, Met& met);

}  // namespace stowage::io::onnx
