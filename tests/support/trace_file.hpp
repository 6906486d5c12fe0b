#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "stowage/runtime/trace.hpp"

namespace stowage::testing {

/// The recorded traces beside the project, sorted by name; empty without data.
[[nodiscard]] std::vector<std::filesystem::path> trace_files();

/// Reads `op,id,size,stream` lines, gzip or not. Nothing when the file is something else.
[[nodiscard]] std::optional<Trace> read_trace_file(const std::filesystem::path& file);

}  // namespace stowage::testing
