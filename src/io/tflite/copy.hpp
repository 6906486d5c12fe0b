#pragma once

#include <span>
#include <string>

#include "io/tflite/file.hpp"
#include "io/tflite/metadata.hpp"
#include "stowage/base.hpp"

namespace stowage::io::tflite {

/// The file with these metadata entries; existing entries with these names are replaced. Everything else is unchanged,
/// including fields that the schema does not know: every other byte of the file is in the copy. Fails with
/// `ErrorCode::unsupported` for a file of almost 2 GiB or more, and for a root table with fields that this version does
/// not know and therefore cannot copy; with `ErrorCode::parse` if a field of the root table points outside of the file.
Result<std::string> with_metadata(const File& file, std::span<const MetadataEntry> entries);

}  // namespace stowage::io::tflite
