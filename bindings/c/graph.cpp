#include <string_view>

#include "handles.hpp"
#include "stowage/files.hpp"
#include "stowage/io.hpp"

namespace stowage::c {
namespace {

Result<std::string> name_at(const char* const* names, std::size_t index, const char* list) {
  if (!names || !names[index]) return null_argument(list);
  return std::string(names[index]);
}

Result<ImportOptions> import_options(const stowage_import_options* given) {
  STOWAGE_TRY(const stowage_import_options from, read_struct(given, "stowage_import_options"));
  ImportOptions options{.alignment = {},
                        .views = from.no_views == 0,
                        .in_place = from.no_in_place == 0,
                        .dims = {},
                        .limit = std::max(1U, from.limit)};
  if (from.alignment != 0) {
    if (!is_power_of_two(Bytes(from.alignment)))
      return Error{
          ErrorCode::invalid, "the alignment " + std::to_string(from.alignment) + " is not a power of two", {}};
    options.alignment = Bytes(from.alignment);
  }
  if (from.fold != 0) options.fold = from.fold > 0;
  for (std::size_t k = 0; k < from.dim_count; ++k) {
    STOWAGE_TRY(std::string name, name_at(from.dim_names, k, "dim_names"));
    if (!from.dim_values) return null_argument("dim_values");
    options.dims[std::move(name)] = from.dim_values[k];
  }
  for (std::size_t k = 0; k < from.shape_count; ++k) {
    STOWAGE_TRY(std::string name, name_at(from.shape_names, k, "shape_names"));
    if (!from.shapes || !from.shape_ranks || (!from.shapes[k] && from.shape_ranks[k] > 0))
      return null_argument("shapes");
    options.shapes[std::move(name)].assign(from.shapes[k], from.shapes[k] + from.shape_ranks[k]);
  }
  return options;
}

Status read_graph(std::string_view bytes, const std::string& name, const stowage_import_options* options,
                  stowage_graph** to) {
  STOWAGE_TRY(const ImportOptions import, import_options(options));
  STOWAGE_TRY(Imported content, import_bytes(bytes, name, import));
  Graph* const graph = std::get_if<Graph>(&content);
  if (!graph) return Error{ErrorCode::unsupported, "a table of items, not a graph: see stowage_pack", {name, {}, {}}};
  *to = new stowage_graph{std::move(*graph)};
  return Done{};
}

}  // namespace
}  // namespace stowage::c

using namespace stowage;
using namespace stowage::c;

extern "C" {

stowage_status* stowage_graph_from_bytes(const void* bytes, size_t size, const char* name,
                                         const stowage_import_options* options, stowage_graph** graph) {
  return guarded([&]() -> Status {
    if (!graph) return null_argument("graph");
    if (!bytes && size > 0) return null_argument("bytes");
    return read_graph({static_cast<const char*>(bytes), size}, text_or(name), options, graph);
  });
}

stowage_status* stowage_graph_from_file(const char* path, const stowage_import_options* options,
                                        stowage_graph** graph) {
  return guarded([&]() -> Status {
    if (!graph) return null_argument("graph");
    if (!path) return null_argument("path");
    STOWAGE_TRY(const std::string bytes, read_file(path));
    return read_graph(bytes, path, options, graph);
  });
}

stowage_status* stowage_graph_to_json(const stowage_graph* graph, stowage_text** json) {
  return guarded([&]() -> Status {
    if (!graph) return null_argument("graph");
    if (!json) return null_argument("json");
    *json = new stowage_text{graph_to_json(graph->graph)};
    return Done{};
  });
}

const char* stowage_graph_name(const stowage_graph* graph) { return graph ? graph->graph.name().c_str() : nullptr; }

size_t stowage_graph_tensor_count(const stowage_graph* graph) { return graph ? graph->graph.tensors().size() : 0; }

size_t stowage_graph_op_count(const stowage_graph* graph) { return graph ? graph->graph.ops().size() : 0; }

const char* stowage_graph_tensor_name(const stowage_graph* graph, uint32_t tensor) {
  return tensor < stowage_graph_tensor_count(graph) ? graph->graph.tensors()[tensor].name.c_str() : nullptr;
}

int64_t stowage_graph_tensor_size(const stowage_graph* graph, uint32_t tensor) {
  return tensor < stowage_graph_tensor_count(graph) ? graph->graph.tensors()[tensor].size.value() : -1;
}

const char* stowage_graph_op_name(const stowage_graph* graph, uint32_t op) {
  return op < stowage_graph_op_count(graph) ? graph->graph.ops()[op].name.c_str() : nullptr;
}

void stowage_graph_free(stowage_graph* graph) { delete graph; }

}  // extern "C"
