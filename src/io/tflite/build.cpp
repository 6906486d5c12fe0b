#include "io/tflite/build.hpp"

#include <filesystem>
#include <utility>

#include "io/tflite/format.hpp"
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

bool is_model(std::string_view bytes) { return bytes.size() >= 8 && bytes.substr(4, 4) == "TFL3"; }

}  // namespace io::tflite

Result<Graph> io::parse_tflite(std::string_view bytes, const std::string& file, const ImportOptions& options) {
  using namespace io::tflite;
  STOWAGE_TRY(const File opened, File::open(bytes, file));
  STOWAGE_TRY(const ModelInfo model, read_model(opened));
  STOWAGE_TRY(ImportedModel imported, import_model(opened, model, {.options = options}));
  return build_graph(opened, std::move(imported.description));
}

}  // namespace stowage
