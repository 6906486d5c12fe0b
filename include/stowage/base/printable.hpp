#pragma once

#include <string>
#include <string_view>

#include "stowage/base.hpp"

namespace stowage {

/// A name from a file as people may see it, in one line of a terminal or a log: control characters
/// and those that change the direction of text become escapes such as `\u001b` and `\u202e`,
/// invalid UTF-8 becomes U+FFFD. All other text is unchanged. Thread-safe.
[[nodiscard]] STOWAGE_EXPORT std::string printable(std::string_view text);
/// The same for a text of several lines: line feeds stay.
[[nodiscard]] STOWAGE_EXPORT std::string printable_lines(std::string_view text);

}  // namespace stowage
