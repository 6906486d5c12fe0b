#include "support/graph_texts.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <tuple>

#include <gtest/gtest.h>

#include "stowage/files.hpp"

namespace stowage::testing {
namespace {

void add_folder(const std::filesystem::path& folder, std::vector<GraphText>& texts) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    texts.push_back({entry.path().string(), read_file(entry.path().string()).value()});
  }
}

/// The graphs in the examples of a page.
void add_page(const std::filesystem::path& page, std::vector<GraphText>& texts) {
  const std::string text = read_file(page.string()).value();
  const std::string begin = "```json\n{\"schema\":\"stowage.graph/1\"";
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const std::size_t first = at + 8;
    texts.push_back({page.filename().string(), text.substr(first, text.find("```", first) - first)});
  }
}

}  // namespace

std::vector<GraphText> graph_texts() {
  std::vector<GraphText> texts;
  const std::filesystem::path source(STOWAGE_SOURCE_DIR);
  if (std::filesystem::exists(source / "examples")) add_folder(source / "examples", texts);
  if (std::filesystem::exists(source / "docs/formats.md")) add_page(source / "docs/formats.md", texts);
  const char* const listed = std::getenv("STOWAGE_GRAPHS");
  std::istringstream folders(listed != nullptr ? listed : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (std::filesystem::is_directory(folder)) {
      add_folder(folder, texts);
    } else {
      ADD_FAILURE() << "STOWAGE_GRAPHS: there is no folder " << folder;
    }
  }
  std::sort(texts.begin(), texts.end(),
            [](const GraphText& a, const GraphText& b) { return std::tie(a.name, a.text) < std::tie(b.name, b.text); });
  return texts;
}

}  // namespace stowage::testing
