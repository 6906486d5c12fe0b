#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "io/extent.hpp"
#include "io/onnx/format.hpp"
#include "io/onnx/import_model.hpp"
#include "io/onnx/open_dims.hpp"
#include "io/onnx/read.hpp"

/// What a model contains, and whether it can be planned: a trial with every open dim set to a number answers that.
namespace stowage::io {
namespace onnx {
namespace {

/// Values of open dims that are tried. Many models accept 1; others need a multiple of a window or of a patch.
constexpr std::array<std::int64_t, 4> kTrialValues = {1, 2, 8, 64};

/// How often values of dims that depend on others are taken over before a trial is given up.
constexpr int kMostTurns = 8;

/// Nodes, inputs and outputs that all imports after the first one may visit together: a file that cannot be planned
/// must not cost many times what one that can does.
constexpr std::size_t kMostVisits = std::size_t{1} << 20;

std::string kind_of(const Node& node) { return node.domain.empty() ? node.kind : node.domain + "." + node.kind; }

void count_ops(const Graph& graph, std::map<std::string, std::size_t>& ops) {
  for (const Node& node : graph.nodes) {
    if (!node.is("Constant")) ++ops[kind_of(node)];
    for (const Attribute& attribute : node.attributes) {
      for (const Graph& body : attribute.graphs) count_ops(body, ops);
    }
  }
}

/// Nodes with their inputs and outputs, in bodies too.
std::size_t count_names(const Graph& graph) {
  std::size_t count = graph.nodes.size();
  for (const Node& node : graph.nodes) {
    count += node.inputs.size() + node.outputs.size();
    for (const Attribute& attribute : node.attributes) {
      for (const Graph& body : attribute.graphs) count += count_names(body);
    }
  }
  return count;
}

/// Adds the bytes of initializers; the sum stays at 2^62.
void add_weights(const Graph& graph, Bytes& sum) {
  for (const TensorInfo& tensor : graph.initializers) {
    const Bytes size = tensor_size(tensor.type, tensor.dims).value_or(Bytes(0));  // strings have none
    sum = size > kMaxBytes - sum ? kMaxBytes : sum + size;
  }
  for (const Node& node : graph.nodes) {
    for (const Attribute& attribute : node.attributes) {
      for (const Graph& body : attribute.graphs) add_weights(body, sum);
    }
  }
}

FileInfo::Input describe_input(const ValueInfo& value) {
  FileInfo::Input input{.name = value.name, .dtype = {}, .shape = {}};
  if (value.type != ElementType::undefined) input.dtype = to_string(value.type);
  if (value.kind != ValueKind::tensor && value.kind != ValueKind::unknown) input.dtype = to_string(value.kind);
  if (!value.shape) return input;
  input.shape.emplace();
  for (const Dim& dim : *value.shape) {
    FileInfo::Dim& described = input.shape->emplace_back();
    if (dim.value) {
      described = *dim.value;
    } else if (!dim.param.empty()) {
      described = dim.param;
    }
  }
  return input;
}

/// What the file says, before anything is inferred.
FileInfo describe_model(const Model& model) {
  FileInfo info{.format = {}, .name = model.graph.name};
  for (const OpsetImport& import : model.imports)
    info.opsets[import.domain.empty() ? "ai.onnx" : import.domain] = import.version;
  for (const ValueInfo* const input : inputs_without_default(model.graph))
    info.inputs.push_back(describe_input(*input));
  info.dims = symbolic_dims(model.graph);
  count_ops(model.graph, info.ops);
  return info;
}

/// The shape with a value for every dim without a name; none if that is not needed.
std::optional<Dims> trial_shape(const std::vector<Dim>& shape, const shape::DimValues& values, std::int64_t value) {
  Dims dims;
  bool needed = false;
  for (const Dim& dim : shape) {
    const auto known = values.find(dim.param);
    needed |= !dim.value && dim.param.empty();
    dims.push_back(dim.value ? *dim.value : known != values.end() ? known->second : value);
  }
  return needed ? std::optional(dims) : std::nullopt;
}

/// The options, with `value` for every dim of an input that they leave open.
ImportOptions with_trial(const Graph& graph, ImportOptions options, std::int64_t value) {
  for (const ValueInfo* const input : inputs_without_default(graph)) {
    if (!input->shape || options.shapes.contains(input->name)) continue;
    for (const Dim& dim : *input->shape) {
      if (!dim.value && !dim.param.empty()) options.dims.try_emplace(dim.param, value);
    }
    if (std::optional<Dims> shape = trial_shape(*input->shape, options.dims, value))
      options.shapes.emplace(input->name, *std::move(shape));
  }
  return options;
}

std::vector<FileInfo::Obstacle> obstacles_of(const Error& error, const UnknownSizes& unknown) {
  std::vector<FileInfo::Obstacle> obstacles;
  for (const UnknownSizes::Cause& cause : unknown.causes())
    obstacles.push_back({.where = cause.where, .reason = cause.reason, .tensors = cause.values});
  // With unknown sizes alone, the error only lists them again.
  const bool listed = !obstacles.empty() && error.message.starts_with("the size");
  if (!listed) obstacles.push_back({.where = error.where.path, .reason = error.message});
  return obstacles;
}

/// One import. Returns values of dims with which a contradiction would not have come up.
shape::DimValues try_import(Model& model, const ImportOptions& options, const std::string& file, FileInfo& info) {
  Met met;
  Result<stowage::Graph> graph = import_model(model, options, file, met);
  if (graph) {
    const Status fits = check_extent(*graph, options.limit);
    if (!fits) graph = fits.error();
  }
  info.dim_values = options.dims;
  info.shape_values = options.shapes;
  info.unsupported = graph ? std::vector<FileInfo::Obstacle>() : obstacles_of(graph.error(), met.unknown);
  return met.agreeing;
}

struct Trials {
  const std::string& file;
  std::size_t& imports;  ///< How many are left.
};

/// Tries the options with `value` for all dims that they leave open. Dims may depend on others ("past + new"): where
/// that shows in a contradiction, they take the value that avoids it, each once.
void try_value(Model& model, ImportOptions options, std::int64_t value, Trials trials, FileInfo& info) {
  const std::vector<ValueInfo> inputs = model.graph.inputs;
  for (int turn = 0; turn < kMostTurns && trials.imports > 0; ++turn) {
    --trials.imports;
    const shape::DimValues agreeing = try_import(model, with_trial(model.graph, options, value), trials.file, info);
    model.graph.inputs = inputs;
    const std::size_t known = options.dims.size();
    options.dims.insert(agreeing.begin(), agreeing.end());
    if (options.dims.size() == known) return;
  }
}

/// Tries values until the model can be planned; otherwise keeps what the first one met.
void try_imports(Model& model, const ImportOptions& options, const std::string& file, FileInfo& info) {
  std::optional<FileInfo> first;
  std::size_t imports = 1 + kMostVisits / std::max<std::size_t>(1, count_names(model.graph));
  for (const std::int64_t value : kTrialValues) {
    if (imports == 0) break;
    try_value(model, options, value, {file, imports}, info);
    const bool open = info.dim_values.size() + info.shape_values.size() > options.dims.size() + options.shapes.size();
    if (info.unsupported.empty() || !open) return;
    if (!first) first = info;
  }
  info = *std::move(first);
}

/// The options, with the dims that their shapes imply. Fails as `apply_shapes` and `check_names` do.
Result<ImportOptions> checked_options(Model& model, ImportOptions options, const std::string& file) {
  STOWAGE_TRY_STATUS(check_names(model.graph, options.dims, file));
  std::vector<ValueInfo> inputs = model.graph.inputs;
  const Status applied = apply_shapes(model.graph, options.shapes, options.dims, file);
  model.graph.inputs = std::move(inputs);
  STOWAGE_TRY_STATUS(applied);
  return options;
}

}  // namespace
}  // namespace onnx

Result<FileInfo> inspect_onnx(std::string_view bytes, const std::string& file, const ImportOptions& options) {
  using namespace onnx;
  STOWAGE_TRY(Model read, read_model(bytes, file));
  STOWAGE_TRY(const ImportOptions checked, checked_options(read, options, file));
  FileInfo info = describe_model(read);
  add_weights(read.graph, info.weights);
  Result<Model> model = ready_model(std::move(read), file);
  if (!model) {
    info.unsupported.push_back({.where = model.error().where.path, .reason = model.error().message});
    return info;
  }
  info.ops.clear();
  count_ops(model->graph, info.ops);
  try_imports(*model, checked, file, info);
  return info;
}

}  // namespace stowage::io
