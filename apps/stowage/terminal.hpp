#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Fitting text to the width of a terminal.
namespace stowage::cli {

/// How many columns the terminal behind a file descriptor has; 80 if it does not say.
[[nodiscard]] std::size_t terminal_columns(int descriptor);

/// `text` with lines of at most `columns` columns: longer ones are broken between words and continue a little further
/// right than they began. Colour codes take no column. Pictures, which are lines that begin with '|' or with a label
/// and '|', and words that are too long stay as they are.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t columns);

/// The beginning of a line, so that it has at most `columns` columns.
[[nodiscard]] std::string cut(std::string_view line, std::size_t columns);

}  // namespace stowage::cli
