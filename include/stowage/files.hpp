#pragma once

#include <string>
#include <string_view>

#include "stowage/base.hpp"

/// Reads and writes whole files, with gzip compression or without. Thread-safe.
namespace stowage {

/// Returns the whole content of `path`, decompressed if it is gzip, whatever its name. "-" reads
/// standard input. Fails with `ErrorCode::io` when the file cannot be read, with `ErrorCode::parse`
/// when its gzip data is damaged or truncated.
STOWAGE_EXPORT Result<std::string> read_file(const std::string& path);

/// Replaces `path` atomically: on failure the old file is unchanged. Compresses with gzip when the
/// name ends in ".gz". "-" writes standard output. A path that exists and is not a regular file (a
/// pipe, a device) is written directly.
STOWAGE_EXPORT Status write_file(const std::string& path, std::string_view content);

}  // namespace stowage
