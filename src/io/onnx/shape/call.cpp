#include "io/onnx/shape/call.hpp"

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"

namespace stowage::io::onnx::shape {

void stop(std::string reason) { throw Stop{.by = {}, .reason = std::move(reason)}; }

Call::Call(const Node& node, std::vector<const ValueFacts*> inputs, Bodies& bodies)
    : node_(node), bodies_(bodies), inputs_(std::move(inputs)), outputs_(node.outputs.size()) {}

const ValueFacts& Call::input(std::size_t index) const {
  if (!has(index)) stop(fmt::format("it has no input {}, which it needs", index));
  return *inputs_[index];
}

const ValueFacts& Call::tensor(std::size_t index) const {
  const ValueFacts& facts = input(index);
  if (facts.kind != ValueKind::tensor && facts.kind != ValueKind::unknown)
    stop(fmt::format("its input '{}' is {}", node_.inputs[index], to_string(facts.kind)));
  return facts;
}

ElementType Call::type(std::size_t index) const {
  const ValueFacts& facts = tensor(index);
  if (facts.type == ElementType::undefined) throw Stop{facts.stopped_by, facts.reason};
  return facts.type;
}

const Dims& Call::dims(std::size_t index) const {
  const ValueFacts& facts = tensor(index);
  if (!facts.dims) throw Stop{facts.stopped_by, facts.reason};
  return *facts.dims;
}

std::int64_t Call::dim(std::size_t index, std::size_t axis) const {
  const Dims& all = dims(index);
  if (axis >= all.size()) stop(fmt::format("its input '{}' has only {} dims", node_.inputs[index], all.size()));
  return all[axis];
}

const Elements* Call::elements(std::size_t index) const {
  return has(index) && inputs_[index]->elements ? &*inputs_[index]->elements : nullptr;
}

const std::vector<std::int64_t>& Call::integers(std::size_t index) const {
  const ValueFacts& facts = input(index);
  if (!facts.elements) {
    if (!facts.is_known()) throw Stop{facts.stopped_by, facts.reason};
    stop(fmt::format("the elements of its input '{}' are not known before it runs", node_.inputs[index]));
  }
  const auto* const found = std::get_if<std::vector<std::int64_t>>(&*facts.elements);
  if (found == nullptr) stop(fmt::format("its input '{}' is not made of integers", node_.inputs[index]));
  return *found;
}

const std::vector<double>& Call::reals(std::size_t index) const {
  const ValueFacts& facts = input(index);
  if (!facts.elements) {
    if (!facts.is_known()) throw Stop{facts.stopped_by, facts.reason};
    stop(fmt::format("the elements of its input '{}' are not known before it runs", node_.inputs[index]));
  }
  const auto* const found = std::get_if<std::vector<double>>(&*facts.elements);
  if (found == nullptr) stop(fmt::format("its input '{}' is not made of floating-point numbers", node_.inputs[index]));
  return *found;
}

std::int64_t Call::integer(std::size_t index) const {
  const std::vector<std::int64_t>& all = integers(index);
  if (all.size() != 1) stop(fmt::format("its input '{}' has {} elements, not one", node_.inputs[index], all.size()));
  return all.front();
}

std::vector<std::int64_t> Call::list(std::string_view attribute) const {
  const std::vector<std::int64_t>* const found = node_.integers(attribute);
  return found != nullptr ? *found : std::vector<std::int64_t>();
}

ElementType Call::type_attribute(std::string_view attribute, ElementType otherwise) const {
  const std::int64_t number = node_.integer(attribute, 0);
  if (number == 0) return otherwise;
  const std::optional<ElementType> type = element_type(number);
  if (!type) stop(fmt::format("its attribute '{}' is the unknown element type {}", attribute, number));
  return *type;
}

void Call::set(std::size_t index, ElementType type, Dims dims) {
  if (index >= outputs_.size()) return;
  ValueFacts& facts = outputs_[index];
  facts.type = type;
  check_dims(type, dims);
  facts.dims = std::move(dims);
}

void Call::set_elements(std::size_t index, Elements elements) {
  if (index < outputs_.size()) outputs_[index].elements = std::move(elements);
}

void Call::set_facts(std::size_t index, ValueFacts facts) {
  if (index < outputs_.size()) outputs_[index] = std::move(facts);
}

}  // namespace stowage::io::onnx::shape
