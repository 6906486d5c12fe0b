#pragma once

#include <string>
#include <string_view>

#include "io/imported.hpp"
#include "stowage/io.hpp"

namespace stowage::io {

/// `parse_graph`, with the alignment of `options`, if any, in every memory, and folded if they say so.
Result<Graph> parse_graph_with(std::string_view text, const std::string& file, const ImportOptions& options);

namespace graph_json {

/// True if the first character is a brace.
[[nodiscard]] bool is_object(std::string_view text);

inline constexpr ImportOption kOptions[] = {ImportOption::alignment, ImportOption::fold};
inline constexpr Format kFormat{.name = "graph",
                                .suffix = ".json",
                                .holds = "graph",
                                .description = "graph in Stowage's own format (stowage.graph/1)",
                                .options = kOptions,
                                .recognises = is_object,
                                .parse = import_graph<parse_graph_with>};

}  // namespace graph_json
}  // namespace stowage::io
