#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/tflite/file.hpp"
#include "io/tflite/import.hpp"
#include "io/tflite/model.hpp"
#include "stowage/base.hpp"

/// The plan as TFLM reads it from a model: metadata of the name `OfflineMemoryAllocation`, 32-bit integers: the
/// format's version (1), the number of subgraphs, the number n of tensors in all of them, n offsets; -1: at run time,
/// or has memory already.
///
/// Beside it we write `StowageArena`, two 32-bit integers, which TFLM does not look at: the arena's size and its
/// alignment. With them a damaged offset can be told from a larger arena.
namespace stowage::io::tflite {

inline constexpr std::string_view kPlanEntry = "OfflineMemoryAllocation";
inline constexpr std::string_view kArenaEntry = "StowageArena";
inline constexpr std::int32_t kNoOffset = -1;

struct OfflinePlan {
  Offsets offsets;
  std::optional<Bytes> arena = {};  ///< Its size; nothing when the file does not tell.
};

/// A metadata entry to write.
struct MetadataEntry {
  std::string_view name;
  std::vector<std::int32_t> numbers;
};

/// What a file with this plan has as metadata. Precondition: the plan has an arena, of at most 2^31 - 1 bytes.
[[nodiscard]] std::vector<MetadataEntry> entries_of(const OfflinePlan& plan, Bytes alignment);

/// The plan in `copy` for `model`. Fails with `ErrorCode::parse` where there is none, more than one, one of another
/// version or of another model (numbers of subgraphs and tensors), or one with numbers that are not offsets.
Result<OfflinePlan> read_plan(const File& copy, const ModelInfo& model);

/// The file with these metadata entries; entries of these names that it has are replaced. All else is as it was, fields
/// that the schema does not know included: every byte of the file is in the copy. Fails with `ErrorCode::unsupported`
/// for a file of 2 GiB, and for a root table with fields that this version does not know, of which it cannot tell how
/// to take them along.
Result<std::string> with_metadata(const File& file, std::span<const MetadataEntry> entries);

}  // namespace stowage::io::tflite
