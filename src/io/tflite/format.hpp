#pragma once

#include <string>
#include <string_view>

#include "io/imported.hpp"
#include "stowage/io.hpp"

namespace stowage::io {

/// As `import_bytes` describes it. `dims` are ignored: dims have no names in TFLite.
Result<Graph> parse_tflite(std::string_view bytes, const std::string& file, const ImportOptions& options = {});

namespace tflite {

/// Checks the identifier that TFLite files have after the first four bytes.
[[nodiscard]] bool is_model(std::string_view bytes);

inline constexpr ImportOption kOptions[] = {ImportOption::alignment, ImportOption::views, ImportOption::in_place};
inline constexpr Format kFormat{.name = "tflite",
                                .suffix = ".tflite",
                                .holds = "model",
                                .description = "TFLite model",
                                .options = kOptions,
                                .recognises = is_model,
                                .parse = import_graph<parse_tflite>};

}  // namespace tflite
}  // namespace stowage::io
