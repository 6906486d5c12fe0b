#include "support/data.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace stowage::testing {
namespace {

namespace fs = std::filesystem;

bool has_ending(const fs::path& path, std::string_view ending) {
  const std::string name = path.filename().string();
  return name.ends_with(ending) || name.ends_with(std::string(ending) + ".gz");
}

std::vector<fs::path> files_in(const char* folder, std::string_view ending) {
  std::vector<fs::path> files;
  const std::optional<fs::path> data = data_dir();
  if (!data) return files;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(*data / folder, failure)) {
    if (has_ending(entry.path(), ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::optional<fs::path> data_dir() {
  const char* const named = std::getenv("STOWAGE_DATA");
  const fs::path path = named ? fs::path(named) : fs::path(STOWAGE_SOURCE_DIR) / ".." / "shared" / "data";
  std::error_code failure;
  if (!fs::is_directory(path, failure)) return std::nullopt;
  return path;
}

std::vector<fs::path> graph_files() { return files_in("graphs", ".json"); }

std::vector<fs::path> csv_files() { return files_in("csv", ".csv"); }

std::vector<fs::path> trace_files() { return files_in("traces", ".csv"); }

}  // namespace stowage::testing
