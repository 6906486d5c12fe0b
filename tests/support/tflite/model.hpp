#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// TFLite models for tests, as literals.
namespace stowage::io::tflite::testing {

inline constexpr std::int8_t kF32 = 0;
inline constexpr std::int8_t kI32 = 2;
inline constexpr std::int8_t kString = 5;
inline constexpr std::int8_t kBool = 6;
inline constexpr std::int8_t kI8 = 9;
inline constexpr std::int8_t kResource = 13;
inline constexpr std::int8_t kI4 = 17;

/// Numbers of operators.
inline constexpr std::int32_t kAdd = 0;
inline constexpr std::int32_t kConv = 3;
inline constexpr std::int32_t kFullyConnected = 9;
inline constexpr std::int32_t kReshape = 22;
inline constexpr std::int32_t kSvdf = 27;
inline constexpr std::int32_t kCustom = 32;
inline constexpr std::int32_t kLess = 58;
inline constexpr std::int32_t kNeg = 59;
inline constexpr std::int32_t kIf = 118;
inline constexpr std::int32_t kLeakyRelu = 98;
inline constexpr std::int32_t kWhile = 119;
inline constexpr std::int32_t kCallOnce = 129;
inline constexpr std::int32_t kVarHandle = 142;
inline constexpr std::int32_t kComposite = 206;

using Shape = std::vector<std::int32_t>;

struct TestTensor {
  std::string name;
  std::optional<Shape> shape = Shape{16};
  std::int8_t type = kI8;
  std::vector<std::uint8_t> data = {};  ///< Makes it a constant.
  bool variable = false;
  Shape signature = {};
  bool has_rank = false;
  std::optional<std::uint32_t> buffer = {};  ///< Instead of the one that fits.
  std::size_t channels = 0;                  ///< Pairs of scale and zero point.
};

struct If {
  std::int32_t then_subgraph, else_subgraph;
};
struct While {
  std::int32_t cond, body;
};
struct CallOnce {
  std::int32_t init;
};
struct Composite {
  std::int32_t decomposition;
};

struct TestOp {
  std::int32_t code;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  std::variant<std::monostate, If, While, CallOnce, Composite> options = {};
};

struct TestSubgraph {
  std::vector<TestTensor> tensors;
  std::vector<TestOp> ops;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
};

struct TestMetadata {
  std::string name;
  std::vector<std::int32_t> numbers;
};

struct TestModel {
  std::vector<TestSubgraph> subgraphs;
  std::vector<TestMetadata> metadata = {};
  std::uint32_t version = 3;
  std::string custom_name = "Mine";  ///< Of custom operators.
  bool future_field = false;         ///< The root table has a field that nobody knows yet.
  std::uint64_t file_offset = 0;     ///< Where the data of an additional buffer lies in the file.
};

/// The file.
[[nodiscard]] std::string bytes_of(const TestModel& model);

/// x -> a RESHAPE to y, then NEG to z; 16 bytes each.
[[nodiscard]] TestModel small_model();
/// x goes through a WHILE with a counter; `cond` reads the counter only.
[[nodiscard]] TestModel loop_model();
/// An IF of two bodies, each with a tensor of its own.
[[nodiscard]] TestModel branch_model();

}  // namespace stowage::io::tflite::testing
