#pragma once

#include <string>
#include <string_view>

#include "stowage/base.hpp"

/// Whole files in and out, packed with gzip or not. Thread-safe.
namespace stowage {

/// The whole content of `path`, unpacked when it is gzip (whatever its name). "-" reads standard
/// input. Fails with `ErrorCode::io` when it cannot be read, with `ErrorCode::parse` for a gzip
/// that is damaged or ends early.
STOWAGE_EXPORT Result<std::string> read_file(const std::string& path);

/// Replaces `path` as a whole or not at all: on any failure the old file stays as it was. Packs
/// with gzip when the name ends in ".gz". "-" writes standard output; a path that exists and is not
/// a regular file (a pipe, a device) is written directly.
STOWAGE_EXPORT Status write_file(const std::string& path, std::string_view content);

}  // namespace stowage
