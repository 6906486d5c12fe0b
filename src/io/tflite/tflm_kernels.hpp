#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/tflite/model.hpp"

/// What TFLM's reference kernels (TensorFlow Lite for Microcontrollers, without CMSIS-NN, Xtensa and the like) take of
/// the arena, as `kTflmVersion` does on x86-64. The sizes are facts about that version: of its structures, from its
/// sources where PyPI's build has the same, else from what its recording allocator reports. scripts/tflm_test.sh
/// compares them with it.
namespace stowage::io::tflite {

struct KernelMemory {
  std::int64_t options = 0;                ///< The size of the parsed options; 0: none are parsed.
  std::int64_t options_alignment = 4;      ///< Of the parsed options.
  std::vector<std::int64_t> init = {};     ///< Sizes of what it allocates for good when it is initialised.
  std::vector<std::int64_t> prepare = {};  ///< The same when it is prepared.
  std::vector<std::int64_t> scratch = {};  ///< Buffers that it needs while it runs; may be 0.
  /// How often it describes each of its tensors while it is prepared, at most.
  std::int64_t descriptions = 1;
};

/// None for a kernel that is not known here, and for tensors that such an operator cannot have.
[[nodiscard]] std::optional<KernelMemory> kernel_memory(const SubgraphInfo& subgraph, const OperatorInfo& op);

}  // namespace stowage::io::tflite
