#pragma once

#include "stowage/io.hpp"

namespace stowage::io {

/// What a parsed file contains: constants, ops, and shapes of inputs of a graph; nothing of a table. A file that is
/// refused as unsupported is not an error, but an obstacle.
Result<FileInfo> inspect_parsed(const Result<Imported>& parsed);

}  // namespace stowage::io
