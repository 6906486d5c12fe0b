#pragma once

#include <string>
#include <string_view>

#include "stowage/io.hpp"

namespace stowage::cli {

/// The content of INPUT.
struct Input {
  Imported content;
  const Format* format;

  /// Null for a table.
  [[nodiscard]] const Graph* graph() const { return std::get_if<Graph>(&content); }
  /// Null for a graph or model.
  [[nodiscard]] const CsvProblem* table() const { return std::get_if<CsvProblem>(&content); }
};

/// Reads a file in any format of the library (`import_bytes`).
Result<Input> read_input(const std::string& path, const ImportOptions& options = {});
/// The same for the bytes of a file.
Result<Input> read_input(const std::string& path, std::string_view bytes, const ImportOptions& options = {});

/// True if the name, without .gz, ends in `extension`.
[[nodiscard]] bool has_extension(const std::string& path, std::string_view extension);

/// True for a TFLite file, by its content or name.
[[nodiscard]] bool is_tflite(const std::string& path, std::string_view bytes);

/// Which inputs a command takes.
enum class Inputs : std::uint8_t { all, graphs };
/// "A graph (.json), a model (.onnx, .tflite) or a table (.csv), also .gz; - is standard input", from the table of
/// formats.
[[nodiscard]] std::string input_help(Inputs inputs);
/// One line for each format, for the program's help.
[[nodiscard]] std::string formats_help();
/// The names of the formats that take an option: "onnx, tflite".
[[nodiscard]] std::string formats_with(ImportOption option);

}  // namespace stowage::cli
