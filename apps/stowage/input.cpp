#include "input.hpp"

#include <algorithm>

namespace stowage::cli {
namespace {

Error at_file(Error error, const std::string& file) {
  if (error.where.file.empty()) error.where.file = file;
  return error;
}

bool looks_like_json(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

/// ONNX has no mark of its own, but a text does not begin with the number of the version, which a model does.
bool looks_like_onnx(std::string_view bytes) { return bytes.starts_with('\x08'); }

bool looks_like_tflite(std::string_view bytes) { return bytes.size() >= 8 && bytes.substr(4, 4) == "TFL3"; }

Result<Graph> with_alignment(const Graph& graph, Bytes alignment, const std::string& path) {
  GraphDescription description = graph.description();
  for (Memory& memory : description.memories) memory.alignment = alignment;
  Result<Graph> result = Graph::build(std::move(description));
  if (!result) return at_file(std::move(result).error(), path);
  return result;
}

}  // namespace

bool has_extension(const std::string& path, std::string_view extension) {
  std::string_view name = path;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name.ends_with(extension);
}

Result<Input> read_input(const std::string& path, const ImportOptions& options) {
  STOWAGE_TRY(const std::string text, read_file(path));
  if (has_extension(path, ".onnx") || (path == "-" && looks_like_onnx(text))) {
    STOWAGE_TRY(Graph graph, parse_onnx(text, path, options));
    return Input(std::move(graph));
  }
  if (has_extension(path, ".tflite") || (path == "-" && looks_like_tflite(text))) {
    STOWAGE_TRY(Graph graph, parse_tflite(text, path, options));
    return Input(std::move(graph));
  }
  if (!options.dims.empty())
    return Error{ErrorCode::unsupported, "--dim is for models, which have symbolic dims", {.file = path, .line = {}, .path = {}}};
  const std::optional<Bytes> alignment = options.alignment;
  if (has_extension(path, ".csv") || (!has_extension(path, ".json") && !looks_like_json(text))) {
    STOWAGE_TRY(CsvProblem table, parse_csv(text, path));
    for (Item& item : table.problem.items) {
      if (alignment && item.alignment == Bytes(1)) item.alignment = *alignment;
    }
    if (Status status = check_problem(table.problem); !status) return at_file(std::move(status).error(), path);
    return Input(std::move(table));
  }
  STOWAGE_TRY(Graph graph, parse_graph(text, path));
  if (!alignment) return Input(std::move(graph));
  STOWAGE_TRY(Graph aligned, with_alignment(graph, *alignment, path));
  return Input(std::move(aligned));
}

}  // namespace stowage::cli
