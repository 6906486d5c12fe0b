#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stowage/base.hpp"

/// gzip in memory; reads and writes no files.
namespace stowage::files {

/// Larger than any file we read; stops a small hostile file from filling the machine's memory.
inline constexpr std::size_t kMaxUnpacked = std::size_t{1} << 33;

[[nodiscard]] bool is_gzip(std::string_view bytes);

/// Unpacks one or more consecutive gzip members. Fails with `ErrorCode::parse` if the bytes are damaged, truncated or
/// followed by other data, and with `ErrorCode::unsupported` if the content is larger than `limit`.
/// The error names no file.
Result<std::string> unpack_gzip(std::string_view packed, std::size_t limit = kMaxUnpacked);

enum class GzipEffort : std::uint8_t {
  usual,
  quick,  ///< Takes a third of the time. Columns of numbers get no larger, text a little.
};

/// Packs `content` as one member without a file name and time stamp: equal content gives equal bytes.
Result<std::string> pack_gzip(std::string_view content, GzipEffort effort = GzipEffort::usual);

}  // namespace stowage::files
