#include "io/onnx/functions.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "io/onnx/read.hpp"

namespace stowage::io::onnx {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;

/// The longest name in the prefix of a call; long enough to find the call.
constexpr std::size_t kMaxPrefix = 64;

/// Maps the values and attributes of a function to those of the calling graph.
class FunctionCall {
 public:
  FunctionCall(const Function& function, const Node& node, std::string prefix)
      : function_(function), node_(node), prefix_(std::move(prefix)) {
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
      names_.emplace(function.inputs[i], i < node.inputs.size() ? node.inputs[i] : std::string());
    for (std::size_t i = 0; i < std::min(function.outputs.size(), node.outputs.size()); ++i) {
      if (node.outputs[i].empty()) continue;
      // A value that is several inputs or outputs keeps its first name.
      if (!names_.emplace(function.outputs[i], node.outputs[i]).second) copied_.push_back(i);
    }
  }

  [[nodiscard]] std::string rename(const std::string& name) const {
    if (name.empty()) return {};
    const auto found = names_.find(name);
    return found != names_.end() ? found->second : prefix_ + name;
  }

  Node instantiate(const Node& original) const {
    Node node = original;
    if (!node.name.empty()) node.name = prefix_ + node.name;
    if (node.layer.empty()) node.layer = node_.layer;
    if (node.source.empty()) node.source = node_.source;
    for (std::string& name : node.inputs) name = rename(name);
    for (std::string& name : node.outputs) name = rename(name);
    node.attributes.clear();
    for (const Attribute& attribute : original.attributes) instantiate(attribute, node.attributes);
    return node;
  }

  /// A node for each output that is an input, or another output, of the function.
  [[nodiscard]] std::vector<Node> copies() const {
    std::vector<Node> nodes;
    for (const std::size_t i : copied_) {
      Node& node = nodes.emplace_back();
      node.kind = "Identity";
      node.name = fmt::format("{}output_{}", prefix_, i);
      node.layer = node_.layer;
      node.source = node_.source;
      node.inputs = {rename(function_.outputs[i])};
      node.outputs = {node_.outputs[i]};
    }
    return nodes;
  }

  /// Symbolic dims have another meaning in every call.
  [[nodiscard]] ValueInfo instantiate(ValueInfo info) const {
    info.name = rename(info.name);
    if (!info.shape) return info;
    for (Dim& dim : *info.shape) dim.param.clear();
    return info;
  }

 private:
  /// Adds the attribute itself, or the value of the attribute that it refers to, from the call or from the function's
  /// defaults, if there is one.
  void instantiate(const Attribute& attribute, std::vector<Attribute>& to) const {
    if (attribute.reference.empty()) {
      to.push_back(attribute);
    } else if (const Attribute* const given = argument(attribute.reference)) {
      to.push_back(*given);
      to.back().name = attribute.name;
      return;  // already instantiated
    } else {
      return;
    }
    for (Graph& graph : to.back().graphs) instantiate(graph);
  }

  void instantiate(Graph& graph) const {
    for (Node& node : graph.nodes) node = instantiate(std::as_const(node));
    for (TensorInfo& tensor : graph.initializers) tensor.name = rename(tensor.name);
    for (auto* list : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
      for (ValueInfo& info : *list) info = instantiate(std::move(info));
    }
  }

  [[nodiscard]] const Attribute* argument(const std::string& name) const {
    if (const Attribute* const given = node_.find(name)) return given;
    const auto& defaults = function_.defaults;
    const auto found =
        std::find_if(defaults.begin(), defaults.end(), [&](const Attribute& a) { return a.name == name; });
    return found == defaults.end() ? nullptr : &*found;
  }

  const Function& function_;
  const Node& node_;
  std::string prefix_;
  std::unordered_map<std::string, std::string> names_;
  std::vector<std::size_t> copied_;  ///< Outputs of the call.
};

std::size_t cost_of(const Node& node);

std::size_t cost_of(const TensorInfo& tensor) {
  std::size_t cost = sizeof(TensorInfo) + tensor.name.size() + tensor.dims.size() * 8;
  if (tensor.elements) cost += std::visit([](const auto& elements) { return elements.size() * 8; }, *tensor.elements);
  return cost;
}

std::size_t cost_of(const Graph& graph) {
  std::size_t cost = sizeof(Graph);
  for (const Node& node : graph.nodes) cost += cost_of(node);
  for (const TensorInfo& tensor : graph.initializers) cost += cost_of(tensor);
  for (const auto* list : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
    for (const ValueInfo& info : *list)
      cost += sizeof(ValueInfo) + info.name.size() + (info.shape ? info.shape->size() : 0) * sizeof(Dim);
  }
  return cost;
}

/// The approximate number of bytes of a copy.
std::size_t cost_of(const Node& node) {
  std::size_t cost = sizeof(Node) + node.name.size() + node.kind.size() + node.layer.size() + node.source.size();
  for (const auto* names : {&node.inputs, &node.outputs}) {
    for (const std::string& name : *names) cost += sizeof(std::string) + name.size() + kMaxPrefix;
  }
  for (const Attribute& attribute : node.attributes) {
    cost += sizeof(Attribute) + attribute.text.size() + (attribute.integers.size() + attribute.reals.size()) * 8;
    for (const std::string& text : attribute.texts) cost += sizeof(std::string) + text.size();
    for (const TensorInfo& tensor : attribute.tensors) cost += cost_of(tensor);
    for (const Graph& graph : attribute.graphs) cost += cost_of(graph);
  }
  return cost;
}

class Inliner {
 public:
  Inliner(const std::vector<Function>& functions, const std::string& file) : functions_(functions), file_(file) {}

  Status index() {
    for (const Function& function : functions_) {
      if (!by_name_.emplace(Key{function.domain, function.name, function.overload}, &function).second)
        return fault(fmt::format("function '{}' occurs twice", function.name));
    }
    return Done{};
  }

  /// Expands every call in `graph`. Values inside get the types that the functions declare.
  Status expand(Graph& graph) {
    if (++depth_ > kMaxGraphDepth)
      return fault(fmt::format("graphs in functions are nested deeper than {}", kMaxGraphDepth));
    std::vector<Node> nodes;
    nodes.reserve(graph.nodes.size());
    for (Node& node : graph.nodes) STOWAGE_TRY_STATUS(expand(std::move(node), nodes, graph.value_infos));
    graph.nodes = std::move(nodes);
    --depth_;
    return Done{};
  }

 private:
  [[nodiscard]] Error fault(std::string message) const {
    return Error{ErrorCode::invalid, std::move(message), {.file = file_, .line = {}, .path = {}}};
  }

  Status expand(Node node, std::vector<Node>& to, std::vector<ValueInfo>& infos) {
    for (Attribute& attribute : node.attributes) {
      for (Graph& graph : attribute.graphs) STOWAGE_TRY_STATUS(expand(graph));
    }
    const auto found = by_name_.find({node.domain, node.kind, node.overload});
    if (found == by_name_.end()) {
      to.push_back(std::move(node));
      return Done{};
    }
    return expand_call(*found->second, node, to, infos);
  }

  Status expand_call(const Function& function, const Node& node, std::vector<Node>& to, std::vector<ValueInfo>& infos) {
    if (!active_.insert(&function).second) return fault(fmt::format("{}: the function calls itself", describe(node)));
    if (node.inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size())
      return fault(fmt::format("{}: has {} inputs and {} outputs, but the function has only {} and {}", describe(node),
                               node.inputs.size(), node.outputs.size(), function.inputs.size(),
                               function.outputs.size()));
    if (active_.size() > kMaxGraphDepth)
      return fault(fmt::format("{}: functions call each other more than {} deep", describe(node), kMaxGraphDepth));
    added_ += (function.inputs.size() + function.outputs.size()) * sizeof(std::string);
    const std::string& name = node.name.empty() ? node.kind : node.name;
    const FunctionCall call(function, node,
                            fmt::format("{}#{}/", std::string_view(name).substr(0, kMaxPrefix - 16), ++calls_));
    for (const Node& original : function.nodes) {
      Node inner = call.instantiate(original);
      added_ += cost_of(inner);
      if (added_ > kMaxInlinedBytes)
        return fault(fmt::format("{}: functions that call functions make the model grow by more than {}",
                                 describe(node), to_human(Bytes(static_cast<std::int64_t>(kMaxInlinedBytes)))));
      STOWAGE_TRY_STATUS(expand(std::move(inner), to, infos));
    }
    for (const ValueInfo& info : function.value_infos) {
      added_ += sizeof(ValueInfo) + info.name.size() + (info.shape ? info.shape->size() : 0) * sizeof(Dim);
      infos.push_back(call.instantiate(info));
    }
    for (Node& copy : call.copies()) to.push_back(std::move(copy));
    active_.erase(&function);
    return Done{};
  }

  const std::vector<Function>& functions_;
  const std::string& file_;
  std::map<Key, const Function*> by_name_;
  std::set<const Function*> active_;  ///< The functions being expanded, each inside the previous one.
  std::size_t depth_ = 0;             ///< Nesting depth of graphs.
  std::size_t calls_ = 0;
  std::size_t added_ = 0;
};

}  // namespace

Result<Model> inline_functions(Model model, const std::string& file) {
  if (model.functions.empty()) return model;
  Inliner inliner(model.functions, file);
  STOWAGE_TRY_STATUS(inliner.index());
  STOWAGE_TRY_STATUS(inliner.expand(model.graph));
  model.functions.clear();
  return model;
}

}  // namespace stowage::io::onnx
