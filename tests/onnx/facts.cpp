// onnx_facts [--strip] [--dim NAME=N]... FILE...: prints what shape inference knows about every value of ONNX models,
// one line each: file, graph, value, type, dims, elements (or ?), reason, separated by tabs. For
// tests/onnx/shapes_test.py.
// --strip ignores the types of intermediate values in the files.

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/onnx/read.hpp"
#include "io/onnx/shape/infer.hpp"
#include "stowage/io.hpp"

namespace stowage::io::onnx {
namespace {

struct Options {
  bool strip = false;
  std::map<std::string, std::int64_t> dims;
  std::vector<std::string> files;
};

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string each = arguments[i];
    if (each == "--strip") {
      options.strip = true;
    } else if (each == "--dim" && i + 1 < count) {
      const std::string pair = arguments[++i];
      const std::size_t sign = pair.find('=');
      options.dims[pair.substr(0, sign)] = std::stoll(pair.substr(sign + 1));
    } else {
      options.files.push_back(each);
    }
  }
  return options;
}

std::string elements_text(const ValueFacts& facts) {
  if (!facts.elements) return "?";
  return std::visit([](const auto& list) { return fmt::format("[{}]", fmt::join(list, ", ")); }, *facts.elements);
}

void print_graph(const std::string& file, const Graph& graph, const ModelFacts& facts) {
  for (const auto& [name, each] : facts.at(&graph)) {
    const std::string dims = each.dims ? fmt::format("[{}]", fmt::join(*each.dims, ", ")) : "?";
    const std::string reason = each.is_known() ? "" : each.stopped_by + ": " + each.reason;
    fmt::print("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", file, graph.name, name, to_string(each.type), dims, elements_text(each),
               reason);
  }
  for (const Node& node : graph.nodes) {
    for (const Attribute& attribute : node.attributes) {
      for (const Graph& body : attribute.graphs) print_graph(file, body, facts);
    }
  }
}

bool print_facts(const std::string& file, const Options& options) {
  const Result<std::string> bytes = read_file(file);
  Result<Model> model = bytes ? read_model(*bytes, file) : Result<Model>(bytes.error());
  if (!model) {
    fmt::print("{}\terror\t{}\n", file, to_string(model.error()));
    return false;
  }
  if (options.strip) model->graph.value_infos.clear();
  const Result<ModelFacts> facts = infer(*model, options.dims, file);
  if (!facts) {
    fmt::print("{}\terror\t{}\n", file, to_string(facts.error()));
    return false;
  }
  print_graph(file, model->graph, *facts);
  return true;
}

}  // namespace
}  // namespace stowage::io::onnx

int main(int count, char** arguments) {
  const auto options = stowage::io::onnx::parse(count, arguments);
  bool fine = true;
  for (const std::string& file : options.files) fine &= stowage::io::onnx::print_facts(file, options);
  return fine ? 0 : 1;
}
