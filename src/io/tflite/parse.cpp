#include "io/tflite/parse.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "io/tflite/import.hpp"

namespace stowage {

namespace io::tflite {

std::string graph_name(const std::string& file) {
  std::filesystem::path path = std::filesystem::path(file).filename();
  while (path.extension() == ".gz" || path.extension() == ".tflite") path = path.stem();
  return path.string();
}

Result<Graph> build_graph(const File& file, GraphDescription description) {
  description.name = graph_name(file.name());
  Result<Graph> graph = Graph::build(std::move(description));
  if (graph) return graph;
  Error error = std::move(graph).error();
  error.where.file = file.name();
  return error;
}

}  // namespace io::tflite

Result<Graph> parse_tflite(std::string_view bytes, const std::string& file, const ImportOptions& options) {
  using namespace io::tflite;
  STOWAGE_TRY(const File opened, File::open(bytes, file));
  if (!options.dims.empty())
    return opened.fault(ErrorCode::unknown_name, {},
                        fmt::format("there is no dim '{}': dims of a TFLite model have no names", options.dims.begin()->first));
  STOWAGE_TRY(const ModelInfo model, read_model(opened));
  STOWAGE_TRY(Imported imported, import_model(opened, model, {.options = options}));
  return build_graph(opened, std::move(imported.description));
}

}  // namespace stowage
