#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Splits CSV text into lines and fields; shared by all CSV readers of the project.
namespace stowage::files {

/// `text` without leading and trailing spaces and tabs.
[[nodiscard]] std::string_view trim(std::string_view text);

/// A field without the spaces and quotes around it; doubled quotes inside it stay doubled.
[[nodiscard]] std::string_view content_of(std::string_view field);

/// Like `content_of`, but a doubled quote inside a quoted field becomes one quote.
[[nodiscard]] std::string text_of(std::string_view field);

/// Splits a line into its fields, exactly as they are written. Returns false if a quote is not closed.
[[nodiscard]] bool split_fields(std::string_view line, std::vector<std::string_view>& fields);

/// Removes the next line from the front of `text` and returns it without its line ending.
std::string_view next_line(std::string_view& text);

/// All of `text` as an integer; nothing if it is not an integer or does not fit.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// `text` without the UTF-8 byte order mark that some programs write first.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

}  // namespace stowage::files
