#pragma once

#include <filesystem>
#include <optional>
#include <vector>

/// Test data outside the repository: real graphs and packing problems.
namespace stowage::testing {

/// The folder named by the environment variable STOWAGE_DATA, else ../shared/data next to the source tree. None if
/// there is no such folder: tests that need it are then skipped with a message.
[[nodiscard]] std::optional<std::filesystem::path> data_dir();

/// The `stowage.graph/1` files there, sorted by name; empty without data.
[[nodiscard]] std::vector<std::filesystem::path> graph_files();

/// The MiniMalloc CSV files there, sorted by name; empty without data.
[[nodiscard]] std::vector<std::filesystem::path> csv_files();

/// The recorded allocation traces there, sorted by name; empty without data.
[[nodiscard]] std::vector<std::filesystem::path> trace_files();

}  // namespace stowage::testing
