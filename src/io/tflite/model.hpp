#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/tflite/file.hpp"
#include "io/tflite/operators.hpp"
#include "stowage/base.hpp"

/// A TFLite model in plain values: what planning needs of it, with every number that refers to something checked.
namespace stowage::io::tflite {

/// Where the value of a tensor is when the model does not run.
enum class Holding : std::uint8_t {
  computed,  ///< Nowhere.
  constant,  ///< In the file.
  variable,  ///< In memory of its own, from run to run.
};

struct TensorInfo {
  std::string name;  ///< "tensor_7" where the file has none.
  std::string dtype;
  std::vector<std::int64_t> shape = {};
  std::optional<Bytes> size = {};  ///< Nothing: the file does not tell.
  std::string unsized = {};        ///< Why not.
  Holding holding = Holding::computed;
  bool sub_byte = false;  ///< Its elements are smaller than a byte.
};

/// How an operator runs the subgraphs that its options name.
enum class Flow : std::uint8_t {
  none,
  branch,  ///< One of them; input 0 chooses, the others are arguments.
  loop,    ///< The first says whether the second, the body, runs again. Inputs, outputs, arguments and results
           ///< correspond.
  call,    ///< The only one; all inputs are arguments.
};

struct OperatorInfo {
  std::string kind;
  OperatorTraits traits;
  std::vector<std::optional<std::uint32_t>> inputs = {};  ///< Nothing: omitted.
  std::vector<std::uint32_t> outputs = {};
  Flow flow = Flow::none;
  std::vector<std::uint32_t> subgraphs = {};
};

struct SubgraphInfo {
  std::vector<TensorInfo> tensors;
  std::vector<std::uint32_t> inputs;
  std::vector<std::uint32_t> outputs;
  std::vector<OperatorInfo> operators;
};

/// At least one subgraph; the first is what runs.
struct ModelInfo {
  std::vector<SubgraphInfo> subgraphs;
};

/// Fails with `ErrorCode::parse` and the place on: no subgraph; a number of a tensor, buffer, operator code or subgraph
/// that does not exist; an omitted tensor where there must be one; lists that the file uses so often that reading them
/// would take much more memory than the file has. Tensors of unknown size are not an error here.
Result<ModelInfo> read_model(const File& file);

}  // namespace stowage::io::tflite
