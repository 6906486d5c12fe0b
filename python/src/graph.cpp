#include "graph.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "errors.hpp"
#include "stowage/base/check_guard.hpp"
#include "stowage/files.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowage::python {
namespace {

/// The arguments of an import, as Python gives them.
struct ImportArguments {
  std::optional<std::int64_t> alignment;
  bool views;
  bool in_place;
  std::optional<bool> fold;
  std::map<std::string, std::int64_t> dims;
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::uint32_t limit;
};

ImportOptions options_of(const ImportArguments& arguments) {
  ImportOptions options{.alignment = {},
                        .views = arguments.views,
                        .in_place = arguments.in_place,
                        .fold = arguments.fold,
                        .dims = arguments.dims,
                        .shapes = arguments.shapes,
                        .limit = arguments.limit};
  if (arguments.alignment) {
    if (!is_power_of_two(Bytes(*arguments.alignment)))
      throw Raised{
          {ErrorCode::invalid, "the alignment " + std::to_string(*arguments.alignment) + " is not a power of two", {}}};
    options.alignment = Bytes(*arguments.alignment);
  }
  return options;
}

std::variant<PyGraph, PyTable> import_text(std::string_view bytes, const std::string& name,
                                           const ImportArguments& arguments) {
  const ImportOptions options = options_of(arguments);
  Imported content = [&] {
    const nb::gil_scoped_release release;
    const detail::CheckGuard guard;
    return or_raise(import_bytes(bytes, name, options));
  }();
  if (Graph* const graph = std::get_if<Graph>(&content)) return PyGraph{std::move(*graph)};
  return PyTable{std::move(std::get<CsvProblem>(content))};
}

std::string file_bytes(const std::string& path) {
  const nb::gil_scoped_release release;
  return or_raise(read_file(path));
}

PyGraph graph_from_json(const std::string& text) {
  const detail::CheckGuard guard;
  return {or_raise(parse_graph(text, "the graph"))};
}

std::vector<std::string> tensor_names(const PyGraph& graph) {
  std::vector<std::string> names;
  for (const Tensor& tensor : graph.graph.tensors()) names.push_back(tensor.name);
  return names;
}

template <class Value>
std::vector<std::string> of_ops(const PyGraph& graph, Value value) {
  std::vector<std::string> values;
  for (const Op& op : graph.graph.ops()) values.push_back(value(op));
  return values;
}

Array<std::int64_t> tensor_sizes(const PyGraph& graph) {
  std::vector<std::int64_t> sizes;
  for (const Tensor& tensor : graph.graph.tensors()) sizes.push_back(tensor.size.value());
  return array_of(std::move(sizes));
}

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<PyGraph>(module, "Graph", "A validated graph of tensors and ops; immutable.")
      .def_prop_ro("name", [](const PyGraph& self) { return self.graph.name(); })
      .def_prop_ro("tensor_names", tensor_names)
      .def_prop_ro("tensor_sizes", tensor_sizes, "In bytes.")
      .def_prop_ro("op_names", [](const PyGraph& self) { return of_ops(self, [](const Op& op) { return op.name; }); })
      .def_prop_ro("op_kinds", [](const PyGraph& self) { return of_ops(self, [](const Op& op) { return op.kind; }); })
      .def_prop_ro("op_layers", [](const PyGraph& self) { return of_ops(self, [](const Op& op) { return op.layer; }); })
      .def(
          "to_json", [](const PyGraph& self) { return graph_to_json(self.graph); },
          "The graph file, `stowage.graph/1`.")
      .def_static("from_json", graph_from_json, "text"_a, "Reads `stowage.graph/1`.")
      .def(
          "__eq__",
          [](const PyGraph& self, nb::handle other) {
            const PyGraph* graph = nullptr;
            return nb::try_cast(other, graph) && graph && graph->graph.description() == self.graph.description();
          },
          "other"_a.none())
      .def("__hash__", [](const PyGraph& self) { return std::hash<std::string>()(graph_to_json(self.graph)); })
      .def("__getstate__", [](const PyGraph& self) { return graph_to_json(self.graph); })
      .def("__setstate__", [](PyGraph& self, const std::string& text) { new (&self) PyGraph(graph_from_json(text)); });
  nb::class_<PyTable>(module, "Table", "A table of items (CSV): a packing problem without ops.")
      .def_prop_ro("ids", [](const PyTable& self) { return self.table.ids; })
      .def("__len__", [](const PyTable& self) { return self.table.problem.items.size(); });
  module.def(
      "read_file",
      [](const std::string& path) {
        const std::string bytes = file_bytes(path);
        return nb::bytes(bytes.data(), bytes.size());
      },
      "path"_a, "The content of a file, decompressed if it is gzip.");
  module.def(
      "import_bytes",
      [](const nb::bytes& bytes, const std::string& name, std::optional<std::int64_t> alignment, bool views,
         bool in_place, std::optional<bool> fold, std::map<std::string, std::int64_t> dims,
         std::map<std::string, std::vector<std::int64_t>> shapes, std::uint32_t limit) {
        return import_text({bytes.c_str(), bytes.size()}, name,
                           {alignment, views, in_place, fold, std::move(dims), std::move(shapes), limit});
      },
      "bytes"_a, "name"_a, "alignment"_a.none() = nb::none(), "views"_a = true, "in_place"_a = true,
      "fold"_a.none() = nb::none(), "dims"_a = std::map<std::string, std::int64_t>(),
      "shapes"_a = std::map<std::string, std::vector<std::int64_t>>(), "limit"_a = 1,
      "Reads the bytes of a file of any format.");
}

}  // namespace stowage::python
