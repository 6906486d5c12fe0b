#include "io/onnx/shape/infer.hpp"

#include <set>

#include <fmt/format.h>

namespace stowage::io::onnx {
namespace {

using DimValues = std::map<std::string, std::int64_t>;

/// Takes what the file says: initializers, constants, and the types of inputs, outputs and values in between.
class Declarations {
 public:
  Declarations(const DimValues& values, ModelFacts& facts) : values_(values), facts_(facts) {}

  void add(const Graph& graph) {
    GraphFacts& facts = facts_[&graph];
    for (const Node& node : graph.nodes) add_node(node, facts);
    for (const auto* list : {&graph.value_infos, &graph.outputs, &graph.inputs}) {
      for (const ValueInfo& info : *list) add_declared(info, facts, list == &graph.inputs);
    }
    for (const TensorInfo& tensor : graph.initializers) facts[tensor.name] = facts_of(tensor);
  }

  [[nodiscard]] const std::set<std::string>& params() const { return params_; }

 private:
  static ValueFacts facts_of(const TensorInfo& tensor) {
    return {.kind = ValueKind::tensor, .type = tensor.type, .dims = tensor.dims, .elements = tensor.elements};
  }

  void add_node(const Node& node, GraphFacts& facts) {
    for (const std::string& output : node.outputs) {
      if (output.empty()) continue;
      facts[output] = {.stopped_by = describe(node), .reason = "the file does not say what type and shape it has"};
    }
    const TensorInfo* const value = node.is("Constant") ? node.tensor("value") : nullptr;
    if (value != nullptr && node.outputs.size() == 1) facts[node.outputs[0]] = facts_of(*value);
    for (const Attribute& attribute : node.attributes) {
      for (const Graph& body : attribute.graphs) add(body);
    }
  }

  void add_declared(const ValueInfo& info, GraphFacts& facts, bool defines) {
    const auto [place, added] = facts.try_emplace(info.name);
    if (added && !defines) {  // says something about a value that is not this graph's
      facts.erase(place);
      return;
    }
    if (place->second.is_known()) return;
    ValueFacts declared = resolve(info);
    if (!declared.is_known() && !place->second.stopped_by.empty()) declared.stopped_by = place->second.stopped_by;
    place->second = std::move(declared);
  }

  ValueFacts resolve(const ValueInfo& info) {
    ValueFacts facts{.kind = info.kind, .type = info.type};
    if (!info.shape) {
      facts.reason = "the file does not say what shape it has";
      return facts;
    }
    Dims dims;
    for (const Dim& dim : *info.shape) {
      if (!dim.param.empty()) params_.insert(dim.param);
      const auto given = values_.find(dim.param);
      if (dim.value || given != values_.end()) {
        dims.push_back(dim.value ? *dim.value : given->second);
      } else if (facts.reason.empty()) {
        facts.reason = dim.param.empty() ? std::string("one of its dims has neither value nor name")
                                         : fmt::format("the dim '{}' has no value", dim.param);
      }
    }
    if (facts.reason.empty()) facts.dims = std::move(dims);
    return facts;
  }

  const DimValues& values_;
  ModelFacts& facts_;
  std::set<std::string> params_;  ///< That the model has.
};

}  // namespace

Result<ModelFacts> infer(const Model& model, const DimValues& dims, const std::string& file) {
  ModelFacts facts;
  Declarations declarations(dims, facts);
  declarations.add(model.graph);
  for (const auto& [name, value] : dims) {
    if (declarations.params().contains(name)) continue;
    return Error{ErrorCode::unknown_name,
                 fmt::format("no shape in the model has a dim '{}'", name),
                 {.file = file, .line = {}, .path = {}}};
  }
  return facts;
}

}  // namespace stowage::io::onnx
