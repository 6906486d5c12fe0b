#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "io/tflite/file.hpp"
#include "io/tflite/model.hpp"

/// Operators that Arm's compiler Vela made for an Ethos-U. To us such an operator is a black box: a program for the
/// NPU, with one large tensor that nobody writes, its scratch memory. The program knows where in it the other tensors
/// lie, so Vela also wrote a plan (`OfflineMemoryAllocation`) that has them there. No other plan may change that.
namespace stowage::io::tflite {

inline constexpr std::string_view kNpuOperator = "ethos-u";

/// Tensors of the first subgraph.
struct NpuMemory {
  std::vector<std::uint32_t> scratch = {};  ///< Read by NPU operators and written by nothing.
  /// The largest of them that has an offset in the model's plan; the others below lie inside it.
  std::optional<std::uint32_t> whole = {};
  std::vector<std::optional<Bytes>> inside = {};  ///< By tensor: where in `whole` it lies. Empty if there is none.
};

/// Empty for a model without such operators.
[[nodiscard]] NpuMemory npu_memory(const File& file, const ModelInfo& model);

}  // namespace stowage::io::tflite
