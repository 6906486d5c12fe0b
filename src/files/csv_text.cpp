#include "files/interface/csv_text.hpp"

#include <algorithm>
#include <charconv>

namespace stowage::files {
namespace {

bool is_quoted(std::string_view field) { return field.size() >= 2 && field.front() == '"' && field.back() == '"'; }

/// The length of the field that `text` starts with, up to the comma or the end; nothing if its quote is not closed.
std::optional<std::size_t> field_length(std::string_view text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::size_t quote = text.find_first_not_of(" \t");
  if (quote >= comma || text[quote] != '"') return comma;
  std::size_t end = text.find('"', quote + 1);
  while (end != text.npos && text.substr(end, 2) == "\"\"") end = text.find('"', end + 2);
  if (end == text.npos) return {};
  return std::min(text.find(',', end), text.size());
}

}  // namespace

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view content_of(std::string_view field) {
  field = trim(field);
  return is_quoted(field) ? field.substr(1, field.size() - 2) : field;
}

std::string text_of(std::string_view field) {
  const std::string_view content = content_of(field);
  if (!is_quoted(trim(field))) return std::string(content);
  std::string text;
  for (std::size_t i = 0; i < content.size(); ++i) {
    text += content[i];
    if (content.substr(i, 2) == "\"\"") ++i;
  }
  return text;
}

bool split_fields(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  while (true) {
    const std::optional<std::size_t> length = field_length(line);
    if (!length) return false;
    fields.push_back(line.substr(0, *length));
    if (*length == line.size()) return true;
    line.remove_prefix(*length + 1);
  }
}

std::string_view next_line(std::string_view& text) {
  const std::size_t length = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

}  // namespace stowage::files
