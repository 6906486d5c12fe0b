#pragma once

#include <string>
#include <string_view>

#include "files/interface/json_reader.hpp"

namespace stowage::files {

/// What is wrong with a text that `parse_json_nodes` rejects: a syntax error with its line and column; a duplicate key
/// or too deep nesting with its path, and the named entry that it is in.
[[nodiscard]] Error find_json_fault(std::string_view text, const std::string& file, NamedLists named);

}  // namespace stowage::files
