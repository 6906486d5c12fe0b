#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "io/onnx/model.hpp"
#include "io/onnx/shape/infer.hpp"
#include "io/onnx/unknown_sizes.hpp"
#include "stowage/io.hpp"

namespace stowage::io::onnx {

/// The state that all graphs of one imported model share.
struct ImportState {
  const ModelFacts& facts;
  const ImportOptions& options;
  const std::string& file;
  Bytes alignment;
  UnknownSizes unknown = {};

  [[nodiscard]] Error fault(ErrorCode code, std::string message) const {
    return Error{code, std::move(message), {.file = file, .line = {}, .path = {}}};
  }
};

/// Tensors and ops of one graph while it is imported, and which value each tensor is.
/// A body's draft sees the values of the enclosing drafts: the first use of such a value adds a pair to `captures` of
/// every draft in between. Constants get a tensor when something reads them.
class Draft {
 public:
  /// `outer` is the draft of the graph around a body, null for the main graph. All arguments must outlive the draft.
  Draft(ImportState& state, const Graph& graph, Draft* outer);
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  std::vector<Tensor> tensors = {};
  std::vector<Op> ops = {};
  std::vector<BodyInput> captures = {};  ///< What a body reads from the enclosing graph.

  /// A new tensor for the value `name`, of the type that was inferred; an output of the main graph gets the flag.
  /// `writer` (or null) is for messages. Fails if the name already has a value, and for a value that is not a tensor,
  /// whose elements have no fixed size, or that has more than 2^62 bytes. An unknown size is recorded, and set to 0.
  Result<TensorId> define(const std::string& name, TensorFlags flags, const Node* writer);
  /// The same for a value of this type, whatever was inferred. `facts` must outlive the draft.
  Result<TensorId> define(const std::string& name, const ValueFacts& facts, const Node* writer);
  /// A constant, which gets a tensor only when it is read. Fails if the name already has a value.
  Status define_constant(const std::string& name, const Node* writer);

  /// The tensor of a value that is already defined, here or in an enclosing graph. Fails, naming `reader`, if there is
  /// none.
  Result<TensorId> read(const std::string& name, const Node* reader);

  /// A tensor that is not a value of the model: an additional tensor for a body.
  TensorId add(Tensor tensor);

  /// What is known about a tensor of this draft.
  [[nodiscard]] const ValueFacts& facts(TensorId id) const { return *facts_by_tensor_[id.index()]; }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] ImportState& state() const { return state_; }
  /// Null if nothing was inferred about a value of this graph.
  [[nodiscard]] const ValueFacts* inferred(const std::string& name) const;

 private:
  Result<std::optional<TensorId>> find(const std::string& name);
  Status claim(const std::string& name, const Node* writer);
  Result<TensorId> define_constant_now(const std::string& name);
  [[nodiscard]] Status check(const std::string& name, const ValueFacts& facts, const Node* writer) const;
  [[nodiscard]] Error undefined(const std::string& name, const Node* reader) const;
  [[nodiscard]] const Node* find_writer(const std::string& name) const;
  Result<TensorId> add_value(const std::string& name, const ValueFacts& facts, TensorFlags flags, const Node* writer);

  ImportState& state_;
  const Graph& graph_;
  Draft* outer_;
  const GraphFacts& facts_;
  /// Without a tensor: a constant that nothing has read.
  std::unordered_map<std::string, std::optional<TensorId>> values_;
  std::unordered_set<std::string_view> output_names_;  ///< Of the main graph.
  std::vector<const ValueFacts*> facts_by_tensor_;
};

}  // namespace stowage::io::onnx
