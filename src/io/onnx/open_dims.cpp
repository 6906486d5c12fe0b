#include "io/onnx/open_dims.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stowage/base/printable.hpp"

namespace stowage::io::onnx {
namespace {

/// More names than this are not listed in messages.
constexpr std::size_t kListed = 20;

class DimNames {
 public:
  void add(const Graph& graph) {
    for (const auto* const list : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
      for (const ValueInfo& info : *list) add(info);
    }
    for (const Node& node : graph.nodes) {
      for (const Attribute& attribute : node.attributes) {
        for (const Graph& body : attribute.graphs) add(body);
      }
    }
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

 private:
  void add(const ValueInfo& info) {
    if (!info.shape) return;
    for (const Dim& dim : *info.shape) {
      if (!dim.param.empty() && seen_.insert(dim.param).second) names_.push_back(dim.param);
    }
  }

  std::unordered_set<std::string_view> seen_;  ///< Names in the graph, which does not change meanwhile.
  std::vector<std::string> names_;
};

/// "'a', 'b' and 3 more", in quotes; "" for none.
std::string quoted(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(names.size(), kListed); ++i)
    shown.push_back(fmt::format("'{}'", printable(names[i])));
  const std::string rest = names.size() > kListed ? fmt::format(" and {} more", names.size() - kListed) : "";
  return fmt::format("{}{}", fmt::join(shown, ", "), rest);
}

std::string shape_text(const std::vector<Dim>& shape) {
  std::vector<std::string> texts;
  for (const Dim& dim : shape)
    texts.push_back(dim.value ? std::to_string(*dim.value) : dim.param.empty() ? "?" : printable(dim.param));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

/// Sets one dim; false if that contradicts what is known.
bool set_dim(Dim& dim, std::int64_t value, shape::DimValues& values) {
  if (value < 0) return false;
  if (!dim.value && !dim.param.empty()) return values.try_emplace(dim.param, value).first->second == value;
  if (dim.value) return *dim.value == value;
  dim.value = value;
  return true;
}

bool set_shape(ValueInfo& info, const Dims& dims, shape::DimValues& values) {
  if (!info.shape) info.shape.emplace(dims.size());
  if (info.shape->size() != dims.size()) return false;
  bool fits = true;
  for (std::size_t i = 0; i < dims.size(); ++i) fits &= set_dim((*info.shape)[i], dims[i], values);
  return fits;
}

/// Quoted for a shell where it needs that.
std::string word(std::string_view name) {
  static constexpr std::string_view kPlain = "_-./:@%+";
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (std::all_of(name.begin(), name.end(), plain)) return std::string(name);
  std::string quoted = "'";
  for (const char c : name) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return printable(quoted + "'");
}

}  // namespace

std::vector<std::string> symbolic_dims(const Graph& graph) {
  DimNames names;
  names.add(graph);
  return names.take();
}

std::vector<const ValueInfo*> inputs_without_default(const Graph& graph) {
  std::unordered_set<std::string_view> constants;
  for (const TensorInfo& tensor : graph.initializers) constants.insert(tensor.name);
  std::vector<const ValueInfo*> inputs;
  for (const ValueInfo& input : graph.inputs) {
    if (!constants.contains(input.name)) inputs.push_back(&input);
  }
  return inputs;
}

Status apply_shapes(Graph& graph, const Shapes& shapes, shape::DimValues& values, const std::string& file) {
  const Location where{.file = file, .line = {}, .path = {}};
  std::vector<std::string> unknown;
  for (const auto& [name, dims] : shapes) {
    const auto input = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                    [&wanted = name](const ValueInfo& info) { return info.name == wanted; });
    if (input == graph.inputs.end()) {
      unknown.push_back(name);
      continue;
    }
    const std::string stated = input->shape ? shape_text(*input->shape) : "";
    if (set_shape(*input, dims, values)) continue;
    return Error{ErrorCode::invalid,
                 fmt::format("the input '{}' is {} in the file and with other options, and cannot have the shape [{}]",
                             printable(name), stated, fmt::join(dims, ", ")),
                 where};
  }
  if (unknown.empty()) return Done{};
  std::vector<std::string> known;
  for (const ValueInfo* const input : inputs_without_default(graph)) known.push_back(input->name);
  return Error{ErrorCode::unknown_name,
               fmt::format("the model has no input {}; its inputs are {}", quoted(unknown), quoted(known)), where};
}

Status check_names(const Graph& graph, const shape::DimValues& values, const std::string& file) {
  const std::vector<std::string> known = symbolic_dims(graph);
  const std::unordered_set<std::string_view> names(known.begin(), known.end());
  std::vector<std::string> unknown;
  for (const auto& [name, value] : values) {
    if (!names.contains(name)) unknown.push_back(name);
  }
  if (unknown.empty()) return Done{};
  const std::string rest = known.empty()       ? "no dim in it has a name"
                           : known.size() == 1 ? fmt::format("its only one is {}", quoted(known))
                                               : fmt::format("its dims are {}", quoted(known));
  return Error{ErrorCode::unknown_name,
               fmt::format("no shape in the model has a dim {}; {}", quoted(unknown), rest),
               {.file = file, .line = {}, .path = {}}};
}

std::string missing_options(const Graph& graph, const shape::DimValues& values) {
  std::vector<std::string> options;
  std::vector<std::string> shapes;
  std::unordered_set<std::string_view> named;
  for (const ValueInfo* const input : inputs_without_default(graph)) {
    if (!input->shape) continue;
    std::vector<std::string> dims;
    bool unnamed = false;
    for (const Dim& dim : *input->shape) {
      dims.push_back(dim.value ? std::to_string(*dim.value) : "N");
      unnamed |= !dim.value && dim.param.empty();
      if (dim.value || dim.param.empty() || values.contains(dim.param) || !named.insert(dim.param).second) continue;
      options.push_back(fmt::format("--dim {}=N", word(dim.param)));
    }
    if (unnamed) shapes.push_back(fmt::format("--shape {}={}", word(input->name), fmt::join(dims, "x")));
  }
  options.insert(options.end(), shapes.begin(), shapes.end());
  return fmt::format("{}", fmt::join(options, " "));
}

}  // namespace stowage::io::onnx
