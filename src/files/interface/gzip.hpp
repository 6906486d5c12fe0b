#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stowage/base.hpp"

/// gzip in memory. No knowledge of files.
namespace stowage::files {

/// More than any file of ours; stops a small hostile file from filling the machine's memory.
inline constexpr std::size_t kMaxUnpacked = std::size_t{1} << 33;

[[nodiscard]] bool is_gzip(std::string_view bytes);

/// Unpacks one or more gzip members that follow each other. Fails with `ErrorCode::parse` for bytes that are damaged,
/// end early or go on with something else, and `ErrorCode::unsupported` for a content larger than `limit`. The error
/// names no file.
Result<std::string> unpack_gzip(std::string_view packed, std::size_t limit = kMaxUnpacked);

enum class GzipEffort : std::uint8_t {
  usual,
  quick,  ///< A third of the time; columns of numbers become no larger, text a little.
};

/// One member, without name and time: equal content gives equal bytes.
Result<std::string> pack_gzip(std::string_view content, GzipEffort effort = GzipEffort::usual);

}  // namespace stowage::files
