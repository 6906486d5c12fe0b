#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/tflite/file.hpp"
#include "io/tflite/operators.hpp"
#include "stowage/base.hpp"

/// A TFLite model as plain values: the parts that planning needs, with all indices checked.
namespace stowage::io::tflite {

/// Where the value of a tensor is stored between runs.
enum class Holding : std::uint8_t {
  computed,  ///< Nowhere.
  constant,  ///< In the file.
  variable,  ///< In memory that is kept from run to run.
};

struct TensorInfo {
  std::string name;  ///< "tensor_7" if the file has none.
  std::string dtype;
  std::vector<std::int64_t> shape = {};
  std::optional<Bytes> size = {};  ///< None: the file does not determine it.
  std::string unsized = {};        ///< Why not.
  Holding holding = Holding::computed;
  bool sub_byte = false;  ///< Its elements are smaller than a byte.
  /// What TFLM takes for it: whole bytes for each element. None: TFLM has no such tensors.
  std::optional<Bytes> tflm_size = {};
  std::size_t channels = 0;   ///< How many pairs of scale and zero point it has; 0: none.
  bool stored_apart = false;  ///< Its data lies outside of the flatbuffer.
};

/// How an operator runs the subgraphs that its options name.
enum class Flow : std::uint8_t {
  none,
  branch,  ///< Runs one of them, selected by input 0; the other inputs are arguments.
  loop,    ///< The first decides whether the second, the body, runs again. Inputs and outputs correspond.
  call,    ///< Runs the only one; all inputs are arguments.
};

struct OperatorInfo {
  std::string kind;
  OperatorTraits traits;
  bool custom = false;  ///< `kind` is a name that someone chose, not one of the format's.
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

/// At least one subgraph; the first is the main one.
struct ModelInfo {
  std::vector<SubgraphInfo> subgraphs;
};

/// Fails with `ErrorCode::parse` and the location on: no subgraph; an index of a tensor, buffer, operator code or
/// subgraph that does not exist; an omitted tensor that is required; lists that the file references so often that
/// reading them would take much more memory than the file. Tensors of unknown size are not an error here.
Result<ModelInfo> read_model(const File& file);

}  // namespace stowage::io::tflite
