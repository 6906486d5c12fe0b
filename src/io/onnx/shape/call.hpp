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

/// Values of more dimensions are not inferred: nothing has as many, and small files must not become large tables.
inline constexpr std::size_t kMaxRank = 32;

/// Nothing (more) can be said about a node's outputs. Thrown by an operator's function, caught where that is called:
/// what was said before stays.
struct Stop {
  std::string by;  ///< The node or graph input at which knowledge was lost; empty: the node at hand.
  std::string reason;
};

[[noreturn]] void stop(std::string reason);

/// Infers the graphs inside a node. Implemented by whatever infers the graph around it.
class Bodies {
 public:
  /// Infers `body` with these inputs, anew if it has been before. Facts about `body`'s outputs, in their order.
  virtual std::vector<ValueFacts> infer_body(const Graph& body, const std::vector<ValueFacts>& inputs) = 0;

  /// What the file says about an input of `body`; unknown where it says nothing.
  virtual ValueFacts declared_input(const Graph& body, std::size_t input) = 0;

  /// False once bodies have been inferred anew too often to go on: bodies inside bodies inside bodies.
  [[nodiscard]] virtual bool may_repeat() const = 0;

  /// Makes everything in `body` unknown.
  virtual void forget(const Graph& body, const std::string& reason) = 0;

 protected:
  ~Bodies() = default;
};

/// A node with what is known of its inputs, to be completed with what that says about its outputs: all that an
/// operator's function sees.
///
/// Questions about inputs throw `Stop` where the answer is not known, so that a function reads as if everything were.
class Call {
 public:
  /// One fact for each of `node`'s inputs, null for an omitted one. All must outlive the call.
  Call(const Node& node, std::vector<const ValueFacts*> inputs, Bodies& bodies);

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] Bodies& bodies() const { return bodies_; }
  /// Of the operator set; where the model does not say it, the newest.
  [[nodiscard]] std::int64_t version() const { return node_.version > 0 ? node_.version : kNewest; }

  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  /// True unless the input is omitted.
  [[nodiscard]] bool has(std::size_t input) const { return input < inputs_.size() && inputs_[input] != nullptr; }

  /// Whatever is known of an input. Stops only at an omitted one.
  [[nodiscard]] const ValueFacts& input(std::size_t index) const;
  [[nodiscard]] ElementType type(std::size_t input) const;
  [[nodiscard]] const Dims& dims(std::size_t input) const;
  [[nodiscard]] std::size_t rank(std::size_t input) const { return dims(input).size(); }
  /// Of dimension `axis` of an input, which it must have.
  [[nodiscard]] std::int64_t dim(std::size_t input, std::size_t axis) const;

  /// The elements of an input that are known before the model runs; null where they are not.
  [[nodiscard]] const Elements* elements(std::size_t input) const;
  /// The same, of integers (or booleans), and floating-point numbers.
  [[nodiscard]] const std::vector<std::int64_t>& integers(std::size_t input) const;
  [[nodiscard]] const std::vector<double>& reals(std::size_t input) const;
  /// The only element of an input.
  [[nodiscard]] std::int64_t integer(std::size_t input) const;

  /// An attribute that is a list of integers; empty when it is absent.
  [[nodiscard]] std::vector<std::int64_t> list(std::string_view attribute) const;
  /// An attribute that is an element type, by default `otherwise`.
  [[nodiscard]] ElementType type_attribute(std::string_view attribute, ElementType otherwise) const;

  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  [[nodiscard]] const ValueFacts& output(std::size_t index) const { return outputs_[index]; }
  /// Says what an output is. An output that the node does not have is left out. Stops where no tensor can be like that.
  void set(std::size_t output, ElementType type, Dims dims);
  void set_elements(std::size_t output, Elements elements);
  /// For what is not a tensor, or whose facts come from elsewhere.
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
