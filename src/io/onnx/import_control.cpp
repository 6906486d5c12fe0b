#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "io/onnx/import_nodes.hpp"

/// If, Loop and Scan as ops with bodies. Work that ONNX leaves to the runtime (counting iterations, passing carried
/// values on, slicing inputs into elements, collecting results) becomes ops of additional kinds, so that its memory is
/// planned.
namespace stowage::io::onnx {
namespace {

const ValueFacts kIteration = {.type = ElementType::int64, .dims = Dims{}};
const ValueFacts kCondition = {.type = ElementType::boolean, .dims = Dims{}};

/// The value of a boolean that is known at import.
std::optional<bool> known_condition(const ValueFacts& facts) {
  const auto* const elements = facts.elements ? std::get_if<std::vector<std::int64_t>>(&*facts.elements) : nullptr;
  if (elements == nullptr || elements->size() != 1) return std::nullopt;
  return elements->front() != 0;
}

std::string part(const Node& node, std::string_view what) {
  return fmt::format("{}/{}", node.name.empty() ? node.kind : node.name, what);
}

/// Imports one control node into a draft.
class ControlImport {
 public:
  ControlImport(const Node& node, Draft& draft)
      : node_(node), draft_(draft), op_{.name = node.name, .kind = node.kind} {
    belong_to_node(op_);
  }

  Status import_if();
  Status import_loop();
  Status import_scan();

 private:
  /// A loop's body under construction.
  struct LoopBody {
    Draft draft;
    Body body = {};
    std::unordered_set<TensorId> written = {};  ///< Tensors that its ops write and that are not carried yet.
  };

  [[nodiscard]] Error fault(ErrorCode code, const std::string& message) const {
    return draft_.state().fault(code, fmt::format("{}: {}", describe(node_), message));
  }
  /// An op that does not say where it comes from comes from where the node does.
  void belong_to_node(Op& op) const {
    if (op.layer.empty()) op.layer = node_.layer;
    if (op.source.empty()) op.source = node_.source;
  }
  Result<const Graph*> graph_of(std::string_view attribute) const;
  Status check_counts(const Graph& graph, std::size_t inputs, std::size_t outputs) const;
  Status check_sizes(const std::string& name, const Tensor& a, const Tensor& b) const;
  Status read_inputs();
  Result<TensorId> define_output(std::size_t position);

  Status add_branch(const Graph& graph, std::vector<std::vector<TensorId>>& results);
  Status add_branch_results(const std::vector<std::vector<TensorId>>& results);

  Status begin_loop(LoopBody& loop);
  Status fill(LoopBody& loop);
  Status carry_in(LoopBody& loop, std::size_t input, std::size_t formal);
  Status carry_out(LoopBody& loop, std::size_t carried, std::size_t result);
  Status collect(LoopBody& loop, std::size_t output, std::size_t result);
  Status add_element(LoopBody& loop, std::size_t input, std::size_t formal);
  TensorId written(LoopBody& loop, TensorId out, TensorId in);
  void finish_body(Draft& inner, Body body);
  Status finish_loop(LoopBody& loop);
  void finish();

  const Node& node_;
  Draft& draft_;
  Op op_;
  Op outputs_ = {};              ///< The op that allocates the scan outputs before the loop.
  std::vector<TensorId> added_;  ///< Inputs of the op in addition to those of the node.
};

Result<const Graph*> ControlImport::graph_of(std::string_view attribute) const {
  const Graph* const graph = node_.graph(attribute);
  if (graph == nullptr) return fault(ErrorCode::invalid, fmt::format("has no graph '{}'", attribute));
  return graph;
}

Status ControlImport::check_counts(const Graph& graph, std::size_t inputs, std::size_t outputs) const {
  if (graph.inputs.size() != inputs)
    return fault(ErrorCode::invalid, fmt::format("its body has {} inputs instead of {}", graph.inputs.size(), inputs));
  if (graph.outputs.size() < outputs)
    return fault(ErrorCode::invalid,
                 fmt::format("its body has {} outputs, fewer than {}", graph.outputs.size(), outputs));
  return Done{};
}

Status ControlImport::check_sizes(const std::string& name, const Tensor& a, const Tensor& b) const {
  // If sizes are unknown, that is the error to report.
  if (a.size == b.size || !draft_.state().unknown.empty()) return Done{};
  return fault(ErrorCode::unsupported,
               fmt::format("'{}' has {} bytes in one place and {} in another; sizes must not change", name,
                           a.size.value(), b.size.value()));
}

Status ControlImport::read_inputs() {
  for (const std::string& name : node_.inputs) {
    op_.inputs.emplace_back();
    if (name.empty()) continue;
    STOWAGE_TRY(op_.inputs.back(), draft_.read(name, &node_));
  }
  return Done{};
}

Result<TensorId> ControlImport::define_output(std::size_t position) {
  STOWAGE_TRY(const TensorId id, draft_.define(node_.outputs[position], TensorFlags(), &node_));
  op_.outputs.push_back(id);
  return id;
}

void ControlImport::finish_body(Draft& inner, Body body) {
  for (const BodyInput& capture : inner.captures) {
    body.inputs.push_back(capture);
    added_.push_back(capture.outer);
  }
  for (Op& op : inner.ops) belong_to_node(op);
  body.tensors = std::move(inner.tensors);
  body.ops = std::move(inner.ops);
  op_.bodies.push_back(std::move(body));
}

void ControlImport::finish() {
  std::unordered_set<TensorId> listed;
  for (const std::optional<TensorId>& input : op_.inputs) {
    if (input) listed.insert(*input);
  }
  for (const TensorId id : added_) {
    if (listed.insert(id).second) op_.inputs.emplace_back(id);
  }
  draft_.ops.push_back(std::move(op_));
}

// ----------------------------------------------------------------------------------------------------------------- If

/// If the condition is known, the op is a call of one body.
Status ControlImport::import_if() {
  STOWAGE_TRY_STATUS(read_inputs());
  if (op_.inputs.size() != 1 || !op_.inputs[0]) return fault(ErrorCode::invalid, "has no condition");
  const std::optional<bool> known = known_condition(draft_.facts(*op_.inputs[0]));
  STOWAGE_TRY(const Graph* const then_branch, graph_of("then_branch"));
  STOWAGE_TRY(const Graph* const else_branch, graph_of("else_branch"));
  std::vector<std::vector<TensorId>> results;
  if (known.value_or(true)) STOWAGE_TRY_STATUS(add_branch(*then_branch, results));
  if (!known.value_or(false)) STOWAGE_TRY_STATUS(add_branch(*else_branch, results));
  op_.control = known ? Control::call : Control::branch;
  STOWAGE_TRY_STATUS(add_branch_results(results));
  finish();
  return Done{};
}

/// `results` gets the tensors of the body's outputs.
Status ControlImport::add_branch(const Graph& graph, std::vector<std::vector<TensorId>>& results) {
  STOWAGE_TRY_STATUS(check_counts(graph, 0, node_.outputs.size()));
  Draft inner(draft_.state(), graph, &draft_);
  STOWAGE_TRY_STATUS(import_nodes(inner));
  std::vector<TensorId>& ids = results.emplace_back();
  for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
    STOWAGE_TRY(const TensorId id, inner.read(graph.outputs[i].name, nullptr));
    ids.push_back(id);
  }
  finish_body(inner, {});
  return Done{};
}

Status ControlImport::add_branch_results(const std::vector<std::vector<TensorId>>& results) {
  for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
    if (node_.outputs[i].empty()) continue;
    STOWAGE_TRY(const TensorId outer, define_output(i));
    for (std::size_t b = 0; b < op_.bodies.size(); ++b) {
      const TensorId inner = results[b][i];
      STOWAGE_TRY_STATUS(
          check_sizes(node_.outputs[i], op_.bodies[b].tensors[inner.index()], draft_.tensors[outer.index()]));
      op_.bodies[b].outputs.push_back({.inner = inner, .outer = outer});
    }
  }
  return Done{};
}

// ------------------------------------------------------------------------------------------------------ Loop and Scan

/// A carried value: input `input` of the node is the initial value of the body's input `formal`.
Status ControlImport::carry_in(LoopBody& loop, std::size_t input, std::size_t formal) {
  const std::string& name = loop.draft.graph().inputs[formal].name;
  if (!op_.inputs[input])
    return fault(ErrorCode::invalid, fmt::format("'{}' has no value for the first iteration", name));
  STOWAGE_TRY(const TensorId inner, loop.draft.define(name, TensorFlags(), &node_));
  STOWAGE_TRY_STATUS(check_sizes(name, draft_.tensors[op_.inputs[input]->index()], loop.draft.tensors[inner.index()]));
  loop.body.inputs.push_back({.outer = *op_.inputs[input], .inner = inner});
  loop.body.carried.push_back({.out = inner, .in = inner});
  return Done{};
}

/// The body's output `result` is the carried value of the next iteration, and at the end the node's output `carried`.
Status ControlImport::carry_out(LoopBody& loop, std::size_t carried, std::size_t result) {
  const std::string& name = loop.draft.graph().outputs[result].name;
  STOWAGE_TRY(const TensorId out, loop.draft.read(name, nullptr));
  Carried& pair = loop.body.carried[carried];
  STOWAGE_TRY_STATUS(check_sizes(name, loop.draft.tensors[out.index()], loop.draft.tensors[pair.in.index()]));
  pair.out = written(loop, out, pair.in);
  if (carried >= node_.outputs.size() || node_.outputs[carried].empty()) return Done{};
  STOWAGE_TRY(const TensorId outer, define_output(carried));
  STOWAGE_TRY_STATUS(
      check_sizes(node_.outputs[carried], loop.draft.tensors[out.index()], draft_.tensors[outer.index()]));
  loop.body.outputs.push_back({.inner = pair.out, .outer = outer});
  return Done{};
}

/// `out`, if an op of the body writes it into separate memory that is not carried as another value; `in` itself, if
/// they are the same tensor; otherwise a copy.
TensorId ControlImport::written(LoopBody& loop, TensorId out, TensorId in) {
  std::vector<Tensor>& tensors = loop.draft.tensors;
  const std::optional<ViewOf>& view = tensors[out.index()].view_of;
  if (out == in || (view && view->tensor == in && view->offset == Bytes(0))) return in;
  if (!view && loop.written.erase(out) > 0) return out;
  Tensor copy{
      .name = tensors[out.index()].name, .size = tensors[out.index()].size, .dtype = tensors[out.index()].dtype};
  copy.shape = tensors[out.index()].shape;
  const TensorId id = loop.draft.add(std::move(copy));
  loop.draft.ops.push_back({.name = part(node_, "carry"), .kind = "LoopCarry", .inputs = {out}, .outputs = {id}});
  return id;
}

/// Concatenates the body's output `result` of all iterations to the node's output `output`: the whole output is passed
/// into the loop and carried, and each iteration writes its part.
Status ControlImport::collect(LoopBody& loop, std::size_t output, std::size_t result) {
  if (output >= node_.outputs.size() || node_.outputs[output].empty()) return Done{};
  STOWAGE_TRY(const TensorId element, loop.draft.read(loop.draft.graph().outputs[result].name, nullptr));
  STOWAGE_TRY(const TensorId outer, define_output(output));
  Tensor room = draft_.tensors[outer.index()];
  room.flags = {};
  const TensorId empty = draft_.add(room);
  const TensorId in = loop.draft.add(room);
  const TensorId out = loop.draft.add(room);
  outputs_.outputs.push_back(empty);
  added_.push_back(empty);
  loop.draft.ops.push_back({.name = part(node_, "append"),
                            .kind = "LoopAppend",
                            .inputs = {in, element},
                            .outputs = {out},
                            .aliases = {{0, 0, Bytes(0)}}});
  loop.body.inputs.push_back({.outer = empty, .inner = in});
  loop.body.carried.push_back({.out = out, .in = in});
  loop.body.outputs.push_back({.inner = out, .outer = outer});
  return Done{};
}

/// Passes one element of the node's input `input` to each iteration, as the body's input `formal`.
Status ControlImport::add_element(LoopBody& loop, std::size_t input, std::size_t formal) {
  if (!op_.inputs[input]) return fault(ErrorCode::invalid, fmt::format("its input {} is omitted", input));
  Tensor whole = draft_.tensors[op_.inputs[input]->index()];
  whole.flags = {};
  whole.view_of = {};
  const TensorId inner = loop.draft.add(std::move(whole));
  loop.body.inputs.push_back({.outer = *op_.inputs[input], .inner = inner});
  STOWAGE_TRY(const TensorId element, loop.draft.define(loop.draft.graph().inputs[formal].name, TensorFlags(), &node_));
  loop.draft.ops.push_back(
      {.name = part(node_, "element"), .kind = "ScanElement", .inputs = {inner}, .outputs = {element}});
  return Done{};
}

Status ControlImport::fill(LoopBody& loop) {
  STOWAGE_TRY_STATUS(import_nodes(loop.draft));
  for (const Op& op : loop.draft.ops) {
    if (!op.no_task) loop.written.insert(op.outputs.begin(), op.outputs.end());
  }
  return Done{};
}

/// Adds the iteration number and the condition, which the loop itself provides.
Status ControlImport::begin_loop(LoopBody& loop) {
  Op begin{.name = part(node_, "begin"), .kind = "LoopBegin"};
  const std::array<const ValueFacts*, 2> kinds = {&kIteration, &kCondition};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string& name = loop.draft.graph().inputs[i].name;
    const ValueFacts* const known = loop.draft.inferred(name);
    STOWAGE_TRY(const TensorId id,
                loop.draft.define(name, known != nullptr && known->is_known() ? *known : *kinds[i], &node_));
    begin.outputs.push_back(id);
  }
  loop.draft.ops.push_back(std::move(begin));
  return Done{};
}

Status ControlImport::import_loop() {
  STOWAGE_TRY_STATUS(read_inputs());
  STOWAGE_TRY(const Graph* const graph, graph_of("body"));
  const std::size_t carried = node_.inputs.size() < 2 ? 0 : node_.inputs.size() - 2;
  STOWAGE_TRY_STATUS(check_counts(*graph, carried + 2, std::max(carried, node_.outputs.size()) + 1));
  LoopBody loop{.draft = {draft_.state(), *graph, &draft_}};
  STOWAGE_TRY_STATUS(begin_loop(loop));
  for (std::size_t i = 0; i < carried; ++i) STOWAGE_TRY_STATUS(carry_in(loop, i + 2, i + 2));
  STOWAGE_TRY_STATUS(fill(loop));
  STOWAGE_TRY(const TensorId condition, loop.draft.read(graph->outputs[0].name, nullptr));
  for (std::size_t i = 0; i < carried; ++i) STOWAGE_TRY_STATUS(carry_out(loop, i, i + 1));
  for (std::size_t i = carried; i + 1 < graph->outputs.size(); ++i) STOWAGE_TRY_STATUS(collect(loop, i, i + 1));
  loop.draft.ops.push_back({.name = part(node_, "end"), .kind = "LoopEnd", .inputs = {condition}});
  return finish_loop(loop);
}

Status ControlImport::import_scan() {
  STOWAGE_TRY_STATUS(read_inputs());
  STOWAGE_TRY(const Graph* const graph, graph_of("body"));
  if (node_.version == 8)
    return fault(ErrorCode::unsupported, "Scan of opset 8, with a batch axis, is not supported; opset 9 and later are");
  const std::int64_t elements = node_.integer("num_scan_inputs", 0);
  if (elements < 0 || elements > static_cast<std::int64_t>(node_.inputs.size()))
    return fault(ErrorCode::invalid,
                 fmt::format("num_scan_inputs is {}, but it has {} inputs", elements, node_.inputs.size()));
  const std::size_t carried = node_.inputs.size() - static_cast<std::size_t>(elements);
  STOWAGE_TRY_STATUS(check_counts(*graph, node_.inputs.size(), std::max(carried, node_.outputs.size())));
  LoopBody loop{.draft = {draft_.state(), *graph, &draft_}};
  for (std::size_t i = 0; i < carried; ++i) STOWAGE_TRY_STATUS(carry_in(loop, i, i));
  for (std::size_t i = carried; i < node_.inputs.size(); ++i) STOWAGE_TRY_STATUS(add_element(loop, i, i));
  STOWAGE_TRY_STATUS(fill(loop));
  for (std::size_t i = 0; i < carried; ++i) STOWAGE_TRY_STATUS(carry_out(loop, i, i));
  for (std::size_t i = carried; i < graph->outputs.size(); ++i) STOWAGE_TRY_STATUS(collect(loop, i, i));
  return finish_loop(loop);
}

Status ControlImport::finish_loop(LoopBody& loop) {
  op_.control = Control::loop;
  if (!outputs_.outputs.empty()) {
    outputs_.name = part(node_, "outputs");
    outputs_.kind = "LoopOutputs";
    belong_to_node(outputs_);
    draft_.ops.push_back(std::move(outputs_));
  }
  finish_body(loop.draft, std::move(loop.body));
  finish();
  return Done{};
}

}  // namespace

bool is_control(const Node& node) { return node.is("If") || node.is("Loop") || node.is("Scan"); }

Status import_control(const Node& node, Draft& draft) {
  ControlImport import(node, draft);
  if (node.is("If")) return import.import_if();
  return node.is("Loop") ? import.import_loop() : import.import_scan();
}

}  // namespace stowage::io::onnx
