#pragma once

#include <string>
#include <string_view>

#include "stowage/base.hpp"

/// Reads and writes whole files, with gzip compression or without. Thread-safe.
namespace stowage {

/// Returns the whole content of `path`, decompressed if it is gzip, whatever its name. "-" reads
/// standard input. Fails with `ErrorCode::io` when the file cannot be read, with `ErrorCode::parse`
/// when its gzip data is damaged or truncated, with `ErrorCode::unsupported` when it would unpack
/// to more than 64 MiB plus 64 times its size, with `ErrorCode::out_of_memory`.
STOWAGE_EXPORT Result<std::string> read_file(const std::string& path);

/// 32 hexadecimal digits that tell contents apart: equal for equal bytes, and different, except by
/// an extremely unlikely chance, for others that nobody made to collide. FNV-1a of 128 bits.
[[nodiscard]] STOWAGE_EXPORT std::string content_hash(std::string_view content);

/// Replaces `path` atomically: on failure the old file is unchanged. Compresses with gzip when the
/// name ends in ".gz". "-" writes standard output. A path that exists and is not a regular file (a
/// pipe, a device) is written directly; a pipe that nobody reads for seconds is an error. A
/// symbolic link is followed, unless it is another user's in a directory where anyone may create
/// files.
STOWAGE_EXPORT Status write_file(const std::string& path, std::string_view content);

/// For a program that is about to end because it was told to: deletes the temporary files of all
/// calls of `write_file` in progress. Files that they were to replace stay as they were; these
/// calls fail, and later ones never return. Must not be called in a signal handler.
STOWAGE_EXPORT void abandon_writes();

}  // namespace stowage
