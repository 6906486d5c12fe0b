#include "stowage/base/printable.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include <fmt/format.h>

namespace stowage {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  char32_t code;
  std::size_t length;
};

/// The character that `text` begins with; nothing if that is not valid UTF-8. Precondition: not empty.
std::optional<Character> first_character(std::string_view text) {
  static constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // by length; fewer would be an overlong form
  const auto lead = static_cast<std::uint8_t>(text[0]);
  if (lead < 0x80) return Character{lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return std::nullopt;
  char32_t code = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if ((byte & 0xC0u) != 0x80) return std::nullopt;
    code = code << 6u | (byte & 0x3Fu);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[length] || code > 0x10FFFF || surrogate) return std::nullopt;
  return Character{code, length};
}

bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7F && code <= 0x9F); }

/// Marks, embeddings, overrides and isolates of right-to-left text, and separators of lines and paragraphs.
bool is_layout(char32_t code) {
  return code == 0x061C || (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool is_plain(char c) { return c >= 0x20 && c < 0x7F; }

std::string escaped(std::string_view text, bool keeps_lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    if (is_plain(text[0]) || (keeps_lines && text[0] == '\n')) {  // nearly always
      result += text[0];
      text.remove_prefix(1);
      continue;
    }
    const std::optional<Character> first = first_character(text);
    if (!first) {
      result += kReplacement;
    } else if (is_control(first->code) || is_layout(first->code)) {
      fmt::format_to(std::back_inserter(result), "\\u{:04x}", static_cast<std::uint32_t>(first->code));
    } else {
      result += text.substr(0, first->length);
    }
    text.remove_prefix(first ? first->length : 1);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, false); }
std::string printable_lines(std::string_view text) { return escaped(text, true); }

}  // namespace stowage
