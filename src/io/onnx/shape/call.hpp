#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "io/onnx/model.hpp"
#include "io/onnx/shape/infer.hpp"

namespace stowage::io::onnx::shape {

/// Values with more dimensions are not inferred: no real model has them, and a small file must not cause large tables.
inline constexpr std::size_t kMaxRank = 32;

/// Inference of a node's outputs stops. Thrown by an operator's rule, caught by its caller; facts set before are kept.
struct Stop {
  std::string by;  ///< The node or graph input at which inference stopped; empty: the current node.
  std::string reason;
};

[[noreturn]] void stop(std::string reason);

/// Infers the bodies of a node. Implemented by the inference of the enclosing graph.
class Bodies {
 public:
  /// Infers `body` with these inputs, again if it was inferred before. Returns facts about the body's outputs, in
  /// order.
  virtual std::vector<ValueFacts> infer_body(const Graph& body, const std::vector<ValueFacts>& inputs) = 0;

  /// What the file states about an input of `body`; unknown if it states nothing.
  virtual ValueFacts declared_input(const Graph& body, std::size_t input) = 0;

  /// False if bodies have been inferred again too often, because of deep nesting.
  [[nodiscard]] virtual bool may_repeat() const = 0;

  /// Makes everything in `body` unknown.
  virtual void forget(const Graph& body, const std::string& reason) = 0;

 protected:
  ~Bodies() = default;
};

/// The interface between an operator's rule and the inference: a node with the facts about its inputs; the rule sets
/// the facts about its outputs.
///
/// Queries about inputs throw `Stop` if the answer is unknown, so a rule can be written as if everything were known.
class Call {
 public:
  /// One entry per input of `node`, null for an omitted one. All arguments must outlive the call.
  Call(const Node& node, std::vector<const ValueFacts*> inputs, Bodies& bodies);

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] Bodies& bodies() const { return bodies_; }
  /// The version of the operator set; the newest if the model does not state it.
  [[nodiscard]] std::int64_t version() const { return node_.version > 0 ? node_.version : kNewest; }

  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  /// True unless the input is omitted.
  [[nodiscard]] bool has(std::size_t input) const { return input < inputs_.size() && inputs_[input] != nullptr; }

  /// All facts about an input. Stops only at an omitted one.
  [[nodiscard]] const ValueFacts& input(std::size_t index) const;
  [[nodiscard]] ElementType type(std::size_t input) const;
  [[nodiscard]] const Dims& dims(std::size_t input) const;
  [[nodiscard]] std::size_t rank(std::size_t input) const { return dims(input).size(); }
  /// The size of dimension `axis` of an input, which must have it.
  [[nodiscard]] std::int64_t dim(std::size_t input, std::size_t axis) const;

  /// The elements of an input if they are known before the model runs; otherwise null.
  [[nodiscard]] const Elements* elements(std::size_t input) const;
  /// The same for integers (or booleans) and for floating-point numbers; stops if they are not known.
  [[nodiscard]] const std::vector<std::int64_t>& integers(std::size_t input) const;
  [[nodiscard]] const std::vector<double>& reals(std::size_t input) const;
  /// The only element of an input.
  [[nodiscard]] std::int64_t integer(std::size_t input) const;

  /// An attribute that is a list of integers; empty if it is absent.
  [[nodiscard]] std::vector<std::int64_t> list(std::string_view attribute) const;
  /// An attribute that is an element type, by default `otherwise`.
  [[nodiscard]] ElementType type_attribute(std::string_view attribute, ElementType otherwise) const;

  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  [[nodiscard]] const ValueFacts& output(std::size_t index) const { return outputs_[index]; }
  /// Sets the type and shape of an output. Ignored if the node does not have the output. Stops if no tensor can have
  /// them.
  void set(std::size_t output, ElementType type, Dims dims);
  void set_elements(std::size_t output, Elements elements);
  /// For values that are not tensors, or whose facts come from elsewhere.
  void set_facts(std::size_t output, ValueFacts facts);

  [[nodiscard]] std::vector<ValueFacts> take_outputs() { return std::move(outputs_); }

 private:
  static constexpr std::int64_t kNewest = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] const ValueFacts& tensor(std::size_t input) const;

  const Node& node_;
  Bodies& bodies_;
  std::vector<const ValueFacts*> inputs_;
  std::vector<ValueFacts> outputs_;
};

}  // namespace stowage::io::onnx::shape
