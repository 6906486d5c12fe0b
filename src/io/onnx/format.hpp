#pragma once

#include <string>
#include <string_view>

#include "io/imported.hpp"
#include "stowage/io.hpp"

namespace stowage::io {

/// As `import_bytes` describes it.
Result<Graph> parse_onnx(std::string_view bytes, const std::string& file, const ImportOptions& options = {});

/// As `inspect_bytes` describes it. Dims of inputs that are open get trial values, the same for all: 1, or else the
/// first of a few others with which the model can be planned.
Result<FileInfo> inspect_onnx(std::string_view bytes, const std::string& file, const ImportOptions& options = {});

namespace onnx {

/// ONNX has no magic number. A file is a model if it begins with the IR version, as no text does, or if it consists
/// entirely of fields of a ModelProto, including a graph.
[[nodiscard]] bool is_model(std::string_view bytes);

inline constexpr ImportOption kOptions[] = {ImportOption::alignment, ImportOption::views, ImportOption::in_place,
                                            ImportOption::fold,      ImportOption::dims,  ImportOption::shapes};
inline constexpr Format kFormat{.name = "onnx",
                                .suffix = ".onnx",
                                .holds = "model",
                                .description = "ONNX model",
                                .options = kOptions,
                                .recognises = is_model,
                                .parse = import_graph<parse_onnx>,
                                .inspect = inspect_onnx};

}  // namespace onnx
}  // namespace stowage::io
