#pragma once

#include <optional>
#include <string>
#include <variant>

#include "stowage/io.hpp"

namespace stowage::cli {

/// What a file holds: a graph, or a table that is a Problem already.
using Input = std::variant<Graph, CsvProblem>;

/// Reads INPUT: by its name, and by its content where the name does not tell ("-"). The alignment of `options` overrides that of
/// every memory, or of every row that has none of its own; the rest is for models.
Result<Input> read_input(const std::string& path, const ImportOptions& options = {});

/// True when the name, less .gz, ends in `extension`.
[[nodiscard]] bool has_extension(const std::string& path, std::string_view extension);

}  // namespace stowage::cli
