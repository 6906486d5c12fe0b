#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "io/tflite/file.hpp"
#include "io/tflite/import.hpp"
#include "io/tflite/model.hpp"
#include "stowage/base.hpp"

/// The plan as TFLM (TensorFlow Lite for Microcontrollers) reads it from a model: a metadata entry with the name
/// `OfflineMemoryAllocation`, which is a list of 32-bit integers: the version of the format (1; Vela writes 0), the
/// number of subgraphs, the number n of tensors in all of them, n offsets. An offset of -1 means that TFLM places the
/// tensor at run time, or that it already has memory.
///
/// We also write an entry `StowageArena`, two 32-bit integers that TFLM ignores: the size of the arena and its
/// alignment. With them a damaged offset can be distinguished from a larger arena.
namespace stowage::io::tflite {

inline constexpr std::string_view kPlanEntry = "OfflineMemoryAllocation";
inline constexpr std::string_view kArenaEntry = "StowageArena";
inline constexpr std::int32_t kNoOffset = -1;  ///< In `Offsets`.

struct OfflinePlan {
  Offsets offsets;
  std::optional<Bytes> arena = {};  ///< The size of the arena, if the file states it.
};

/// A metadata entry to write.
struct MetadataEntry {
  std::string_view name;
  std::vector<std::int32_t> numbers;
};

/// The two entries for this plan. Precondition: the plan states the size of its arena, at most 2^31 - 1 bytes.
[[nodiscard]] std::vector<MetadataEntry> entries_of(const OfflinePlan& plan, Bytes alignment);

/// The plan in the file, a copy of `model`. Fails with `ErrorCode::parse` if there is no plan or more than one, if it
/// has another version or is for another model (numbers of subgraphs and tensors), or if it has numbers that are not
/// offsets.
Result<OfflinePlan> read_plan(const File& file, const ModelInfo& model);

}  // namespace stowage::io::tflite
