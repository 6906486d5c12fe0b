#include "io/onnx/shape/infer.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "io/onnx/open_dims.hpp"
#include "io/onnx/shape/call.hpp"
#include "io/onnx/shape/declared.hpp"
#include "io/onnx/shape/fold.hpp"
#include "io/onnx/shape/operators.hpp"

namespace stowage::io::onnx {
namespace {

using shape::Bodies;
using shape::Call;
using shape::DimValues;
using shape::Operator;
using shape::Stop;

/// The most elements that are folded per model: a small file must not cause large tables.
constexpr std::int64_t kFoldedElements = std::int64_t{1} << 22;

/// How often every node may be visited, on average: loops that change shapes are inferred again, and so are those
/// inside them.
constexpr std::int64_t kVisits = 64;

/// The file and the inference contradict each other.
struct Contradiction {
  std::string message;
  DimValues dims;  ///< As in `Difference`.
};

void for_each_body(const Node& node, const auto& f) {
  for (const Attribute& attribute : node.attributes) {
    for (const Graph& body : attribute.graphs) f(body);
  }
}

/// How many nodes there are in a graph and its bodies.
std::int64_t count_nodes(const Graph& graph) {
  auto count = static_cast<std::int64_t>(graph.nodes.size());
  for (const Node& node : graph.nodes) for_each_body(node, [&](const Graph& body) { count += count_nodes(body); });
  return count;
}

ValueFacts facts_of(const TensorInfo& tensor) {
  ValueFacts facts{.type = tensor.type, .dims = tensor.dims, .elements = tensor.elements};
  if (tensor.type != ElementType::uint64 || !tensor.elements) return facts;
  // Values beyond int64 were read as negative ones.
  const auto& list = std::get<std::vector<std::int64_t>>(*tensor.elements);
  if (std::any_of(list.begin(), list.end(), [](std::int64_t each) { return each < 0; })) facts.elements.reset();
  return facts;
}

/// What the file states about the values of one graph other than its inputs.
class Declarations {
 public:
  explicit Declarations(const Graph& graph) {
    for (const auto* const list : {&graph.value_infos, &graph.outputs}) {
      for (const ValueInfo& info : *list) infos_.emplace(info.name, &info);
    }
  }

  [[nodiscard]] auto of(std::string_view name) const { return infos_.equal_range(name); }

 private:
  std::unordered_multimap<std::string_view, const ValueInfo*> infos_;
};

/// One pass over the nodes of every graph, in their order.
class Inference final : public Bodies {
 public:
  Inference(const DimValues& values, std::int64_t nodes, ModelFacts& facts)
      : values_(values), visits_left_(nodes * kVisits), facts_(facts) {}

  void infer_graph(const Graph& graph, const std::vector<ValueFacts>& inputs) {
    GraphFacts& facts = facts_[&graph];
    facts.clear();
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      facts[graph.inputs[i].name] = input_facts(graph.inputs[i], i < inputs.size() ? inputs[i] : ValueFacts());
    }
    for (const TensorInfo& tensor : graph.initializers) facts[tensor.name] = facts_of(tensor);
    const Declarations declared(graph);
    scopes_.push_back(&facts);
    for (const Node& node : graph.nodes) infer_node(node, declared, facts);
    scopes_.pop_back();
  }

  std::vector<ValueFacts> infer_body(const Graph& body, const std::vector<ValueFacts>& inputs) override {
    infer_graph(body, inputs);
    std::vector<ValueFacts> outputs;
    scopes_.push_back(&facts_[&body]);
    for (const ValueInfo& output : body.outputs) outputs.push_back(find(output.name));
    scopes_.pop_back();
    return outputs;
  }

  ValueFacts declared_input(const Graph& body, std::size_t input) override {
    return input < body.inputs.size() ? input_facts(body.inputs[input], ValueFacts()) : ValueFacts();
  }

  [[nodiscard]] bool may_repeat() const override { return visits_left_ > 0; }

  void forget(const Graph& body, const std::string& reason) override {
    for (auto& [name, facts] : facts_[&body]) facts = {.reason = reason};
    for (const Node& node : body.nodes) for_each_body(node, [&](const Graph& inner) { forget(inner, reason); });
  }

 private:
  /// Facts about a graph's input, from the value passed to it and from the file.
  [[nodiscard]] ValueFacts input_facts(const ValueInfo& info, ValueFacts facts) const {
    if (const auto difference = shape::reconcile(facts, info, values_))
      throw Contradiction{fmt::format("input '{}': {}", info.name, difference->text), difference->dims};
    if (facts.is_known()) return facts;
    if (facts.type == ElementType::undefined && facts.kind == ValueKind::tensor) facts.kind = info.kind;
    if (facts.reason.empty()) facts.reason = "the file does not say what type and shape it has";
    if (facts.stopped_by.empty()) facts.stopped_by = fmt::format("input '{}'", info.name);
    return facts;
  }

  [[nodiscard]] const ValueFacts& find(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = (*scope)->find(name);
      if (found != (*scope)->end()) return found->second;
    }
    return missing_;
  }

  void infer_node(const Node& node, const Declarations& declared, GraphFacts& facts) {
    --visits_left_;
    for_each_body(node, [&](const Graph& body) { facts_.erase(&body); });
    std::vector<const ValueFacts*> inputs;
    for (const std::string& name : node.inputs) inputs.push_back(name.empty() ? nullptr : &find(name));
    Call call(node, std::move(inputs), *this);
    const Stop stop = apply(call);
    for_each_body(node, [&](const Graph& body) {
      if (!facts_.contains(&body)) infer_graph(body, unknown_inputs(body, node, stop));
    });
    std::vector<ValueFacts> outputs = call.take_outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!node.outputs[i].empty()) facts[node.outputs[i]] = settled(std::move(outputs[i]), stop, node, {declared, i});
    }
  }

  /// Runs the rules of the node's operator. Returns where and why they stopped; without a reason if they did not.
  Stop apply(Call& call) {
    const Node& node = call.node();
    const Operator* const found = shape::find_operator(node.domain, node.kind);
    if (found == nullptr) {
      const std::string kind = node.domain.empty() ? node.kind : node.domain + "." + node.kind;
      return {.by = {}, .reason = fmt::format("nothing is known about the operator {}", kind)};
    }
    try {
      found->infer(call);
      if (found->fold != nullptr && can_fold(call)) fold(*found, call);
    } catch (const Stop& stop) {
      return stop.reason.empty() ? Stop{stop.by, "one of its inputs is not known"} : stop;
    }
    return {};
  }

  static bool can_fold(const Call& call) {
    for (std::size_t i = 0; i < call.input_count(); ++i) {
      if (call.has(i) && (call.elements(i) == nullptr || !call.input(i).is_known())) return false;
    }
    for (std::size_t i = 0; i < call.output_count(); ++i) {
      const std::optional<Dims>& dims = call.output(i).dims;
      if (!dims || element_count(*dims).value_or(shape::kMaxFoldedElements + 1) > shape::kMaxFoldedElements)
        return false;
    }
    return call.input_count() > 0 && call.output_count() > 0;
  }

  static void fold(const Operator& found, Call& call) {
    try {
      found.fold(call);
    } catch (const Stop&) {  // its elements remain unknown
    }
  }

  struct OutputPlace {
    const Declarations& declared;
    std::size_t index;
  };

  ValueFacts settled(ValueFacts facts, const Stop& stop, const Node& node, OutputPlace place) {
    const std::string& name = node.outputs[place.index];
    if (!facts.is_known() && facts.reason.empty()) {
      facts.stopped_by = stop.by;
      facts.reason = stop.reason.empty() ? "nothing is known about this output" : stop.reason;
    }
    const auto [first, last] = place.declared.of(name);
    for (auto each = first; each != last; ++each) {
      if (const auto difference = shape::reconcile(facts, *each->second, values_))
        throw Contradiction{fmt::format("{}: value '{}': {}", describe(node), name, difference->text),
                            difference->dims};
    }
    if (!facts.is_known() && facts.stopped_by.empty()) facts.stopped_by = describe(node);
    limit_elements(facts);
    return facts;
  }

  void limit_elements(ValueFacts& facts) {
    if (!facts.elements) return;
    const std::int64_t size = shape::size(*facts.elements);
    if (!facts.is_known() || size > folded_left_ || size != element_count(*facts.dims)) return facts.elements.reset();
    folded_left_ -= size;
  }

  /// Inputs for a body that its operator's rule did not infer.
  static std::vector<ValueFacts> unknown_inputs(const Graph& body, const Node& node, const Stop& stop) {
    const std::string reason = stop.reason.empty() ? "nothing is known about the inputs of its body" : stop.reason;
    return std::vector<ValueFacts>(body.inputs.size(),
                                   {.stopped_by = stop.by.empty() ? describe(node) : stop.by, .reason = reason});
  }

  const DimValues& values_;
  std::int64_t visits_left_;
  std::int64_t folded_left_ = kFoldedElements;
  ModelFacts& facts_;
  std::vector<const GraphFacts*> scopes_;  ///< From the main graph to the current one.
  const ValueFacts missing_{.reason = "one of its inputs is not defined before it"};
};

}  // namespace

Result<ModelFacts> infer(const Model& model, const DimValues& dims, const std::string& file,
                         std::map<std::string, std::int64_t>* agreeing) {
  if (!dims.empty()) STOWAGE_TRY_STATUS(check_names(model.graph, dims, file));
  const Location where{.file = file, .line = {}, .path = {}};
  for (const auto& [name, value] : dims) {
    if (value < 0)
      return Error{ErrorCode::invalid, fmt::format("the dim '{}' has the negative value {}", name, value), where};
  }
  ModelFacts facts;
  try {
    Inference(dims, count_nodes(model.graph), facts).infer_graph(model.graph, {});
  } catch (const Contradiction& contradiction) {
    if (agreeing != nullptr) *agreeing = contradiction.dims;
    return Error{ErrorCode::invalid, contradiction.message, where};
  }
  return facts;
}

}  // namespace stowage::io::onnx
