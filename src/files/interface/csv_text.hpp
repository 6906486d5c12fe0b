#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Lines and fields of tables, as every CSV reader here takes them apart.
namespace stowage::files {

/// Without the spaces around it.
[[nodiscard]] std::string_view trim(std::string_view text);

/// A field without the spaces and quotes around it.
[[nodiscard]] std::string_view content_of(std::string_view field);

/// The same, and a quote that is written twice inside quotes is one.
[[nodiscard]] std::string text_of(std::string_view field);

/// The fields of a line, as they are written; false when a quote is not closed.
[[nodiscard]] bool split_fields(std::string_view line, std::vector<std::string_view>& fields);

/// Cuts the next line off `text`, without its end.
std::string_view next_line(std::string_view& text);

/// All of `text` as an integer; nothing where it is none or does not fit.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// `text` without the mark that some programs put before it.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

}  // namespace stowage::files
