#pragma once

#include <string>

#include "io/onnx/model.hpp"
#include "io/onnx/unknown_sizes.hpp"
#include "stowage/graph.hpp"
#include "stowage/io.hpp"

/// The stages between a model as it was read and a graph.
namespace stowage::io::onnx {

/// Functions are inlined and nodes sorted. Fails as `inline_functions` does.
Result<Model> ready_model(Model read, const std::string& file);

/// The graph of a ready model. Puts `options.shapes` into the model. `unknown` gets the values of unknown size, which
/// are also the error, unless another one came before. Fails as `import_bytes` says.
Result<stowage::Graph> import_model(Model& model, const ImportOptions& options, const std::string& file,
                                    UnknownSizes& unknown);

}  // namespace stowage::io::onnx
