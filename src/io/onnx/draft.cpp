#include "io/onnx/draft.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stowage::io::onnx {
namespace {

const ValueFacts kNothingKnown = {};

const GraphFacts& facts_of(const ModelFacts& facts, const Graph& graph) {
  static const GraphFacts kNone = {};
  const auto found = facts.find(&graph);
  return found == facts.end() ? kNone : found->second;
}

std::string at(const Node* node) { return node != nullptr ? describe(*node) + ": " : std::string(); }

}  // namespace

Draft::Draft(ImportState& state, const Graph& graph, Draft* outer)
    : state_(state), graph_(graph), outer_(outer), facts_(facts_of(state.facts, graph)) {
  if (outer != nullptr) return;
  for (const ValueInfo& output : graph.outputs) output_names_.insert(output.name);
}

Result<TensorId> Draft::define(const std::string& name, TensorFlags flags, const Node* writer) {
  const ValueFacts* const known = inferred(name);
  return add_value(name, known != nullptr ? *known : kNothingKnown, flags, writer);
}

const ValueFacts* Draft::inferred(const std::string& name) const {
  const auto found = facts_.find(name);
  return found == facts_.end() ? nullptr : &found->second;
}

Result<TensorId> Draft::define(const std::string& name, const ValueFacts& facts, const Node* writer) {
  return add_value(name, facts, {}, writer);
}

Status Draft::define_constant(const std::string& name, const Node* writer) { return claim(name, writer); }

Status Draft::claim(const std::string& name, const Node* writer) {
  if (values_.try_emplace(name, std::nullopt).second) return Done{};
  return state_.fault(ErrorCode::invalid, fmt::format("{}'{}' already has a value", at(writer), name));
}

Result<TensorId> Draft::add_value(const std::string& name, const ValueFacts& facts, TensorFlags flags,
                                  const Node* writer) {
  STOWAGE_TRY_STATUS(claim(name, writer));
  STOWAGE_TRY_STATUS(check(name, facts, writer));
  Tensor tensor{.name = name, .size = Bytes(0), .flags = flags};
  if (output_names_.contains(name)) tensor.flags |= TensorFlag::output;
  if (facts.is_known()) {
    tensor.size = *tensor_size(facts.type, *facts.dims);
    tensor.shape = *facts.dims;
  } else {
    state_.unknown.add(name, facts);
  }
  if (facts.type != ElementType::undefined) tensor.dtype = to_string(facts.type);
  const TensorId id = add(std::move(tensor));
  facts_by_tensor_[id.index()] = &facts;
  values_[name] = id;
  return id;
}

Status Draft::check(const std::string& name, const ValueFacts& facts, const Node* writer) const {
  if (facts.kind != ValueKind::tensor && facts.kind != ValueKind::unknown)
    return state_.fault(ErrorCode::unsupported, fmt::format("{}'{}' is {}; only tensors can be planned", at(writer),
                                                            name, to_string(facts.kind)));
  if (facts.type == ElementType::string)
    return state_.fault(ErrorCode::unsupported,
                        fmt::format("{}'{}' consists of strings, which have no fixed size", at(writer), name));
  if (!facts.is_known() || tensor_size(facts.type, *facts.dims)) return Done{};
  return state_.fault(ErrorCode::invalid, fmt::format("{}'{}' has more than 2^62 bytes", at(writer), name));
}

Result<TensorId> Draft::read(const std::string& name, const Node* reader) {
  STOWAGE_TRY(const std::optional<TensorId> id, find(name));
  if (!id) return undefined(name, reader);
  return *id;
}

Result<std::optional<TensorId>> Draft::find(const std::string& name) {
  if (const auto found = values_.find(name); found != values_.end()) {
    if (found->second) return found->second;
    STOWAGE_TRY(const TensorId constant, define_constant_now(name));
    return std::optional(constant);
  }
  if (outer_ == nullptr) return std::optional<TensorId>();
  STOWAGE_TRY(const std::optional<TensorId> outside, outer_->find(name));
  if (!outside) return outside;
  const Tensor& tensor = outer_->tensors[outside->index()];
  const TensorId inside = add({.name = name, .size = tensor.size, .dtype = tensor.dtype, .shape = tensor.shape});
  facts_by_tensor_[inside.index()] = &outer_->facts(*outside);
  captures.push_back({.outer = *outside, .inner = inside});
  values_[name] = inside;
  return std::optional(inside);
}

Result<TensorId> Draft::define_constant_now(const std::string& name) {
  values_.erase(name);
  return define(name, TensorFlag::constant, nullptr);
}

TensorId Draft::add(Tensor tensor) {
  tensors.push_back(std::move(tensor));
  facts_by_tensor_.push_back(&kNothingKnown);
  return TensorId(tensors.size() - 1);
}

const Node* Draft::find_writer(const std::string& name) const {
  for (const Draft* draft = this; draft != nullptr; draft = draft->outer_) {
    for (const Node& node : draft->graph_.nodes) {
      if (std::find(node.outputs.begin(), node.outputs.end(), name) != node.outputs.end()) return &node;
    }
  }
  return nullptr;
}

Error Draft::undefined(const std::string& name, const Node* reader) const {
  const Node* const writer = find_writer(name);
  if (reader == nullptr) return state_.fault(ErrorCode::invalid, fmt::format("the output '{}' has no value", name));
  if (writer == nullptr)
    return state_.fault(ErrorCode::invalid,
                        fmt::format("{}: reads '{}', which is not defined", describe(*reader), name));
  return state_.fault(ErrorCode::invalid, fmt::format("{}: reads '{}' before {} writes it: the nodes form a cycle",
                                                      describe(*reader), name, describe(*writer)));
}

}  // namespace stowage::io::onnx
