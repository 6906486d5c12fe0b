#pragma once

#include <filesystem>
#include <optional>
#include <vector>

/// The data beside the project: real graphs and packing problems, which are not part of the repository.
namespace stowage::testing {

/// The folder named by the environment variable STOWAGE_DATA, else ../shared/data beside the source tree. Nothing when
/// there is no such folder: a test that needs it then skips, and says so.
[[nodiscard]] std::optional<std::filesystem::path> data_dir();

/// The `stowage.graph/1` files there, sorted by name; empty without data.
[[nodiscard]] std::vector<std::filesystem::path> graph_files();

/// The MiniMalloc CSV files there, sorted by name; empty without data.
[[nodiscard]] std::vector<std::filesystem::path> csv_files();

/// The recorded allocation traces there, sorted by name; empty without data.
[[nodiscard]] std::vector<std::filesystem::path> trace_files();

}  // namespace stowage::testing
