#pragma once

#include <string>
#include <vector>

namespace stowage::testing {

struct GraphText {
  std::string name;  ///< Of the file.
  std::string text;
};

/// Graph files (and other JSON files, which are no graphs): those of the examples, those in the description of the
/// formats, and those in the folders that the environment variable STOWAGE_GRAPHS lists, separated by colons. Sorted.
/// Where the source tree is not there, on another machine, only the latter; a folder that is listed and does not exist
/// is a failure of the test that calls this.
[[nodiscard]] std::vector<GraphText> graph_texts();

}  // namespace stowage::testing
