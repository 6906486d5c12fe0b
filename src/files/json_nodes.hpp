#pragma once

#include <cstddef>
#include <string_view>

#include "files/interface/json_reader.hpp"

namespace stowage::files {

/// Our formats need less: bodies nested 64 deep, with four levels each. Far too small to overflow any stack.
inline constexpr std::size_t kMaxJsonDepth = 320;

enum class JsonParse : std::uint8_t { done, fault, too_many_objects };

/// Reads all nodes of a text. A fault is anything that RFC 8259 does not allow, and duplicate keys, invalid UTF-8,
/// numbers too large for 64-bit floating point, deep nesting. O(text), except for objects with many keys, which are
/// sorted.
[[nodiscard]] JsonParse parse_json_nodes(std::string_view text, const JsonLimits& limits, JsonDocument& document);

}  // namespace stowage::files
