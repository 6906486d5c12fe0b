#include "terminal.hpp"

#include <algorithm>

#include <sys/ioctl.h>

namespace stowage::cli {
namespace {

constexpr std::size_t kUsual = 80;
constexpr std::size_t kLeast = 20;  // with fewer columns, breaking lines helps nobody

/// Whether a byte begins a character of UTF-8. Each counts as one column.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80; }

/// Where the colour code that begins at `at` ends; `at` if none does. It takes no column.
std::size_t after_colour(std::string_view line, std::size_t at) {
  if (line.substr(at, 2) != "\033[") return at;
  const std::size_t end = line.find('m', at);
  return end == std::string_view::npos ? at : end + 1;
}

/// Where the first `columns` columns end, and how many there are if the line has fewer.
struct Columns {
  std::size_t end = 0;
  std::size_t count = 0;
};

Columns first_columns(std::string_view line, std::size_t columns) {
  Columns result;
  while (result.end < line.size()) {
    if (const std::size_t after = after_colour(line, result.end); after != result.end) {
      result.end = after;
      continue;
    }
    if (begins_character(line[result.end]) && result.count++ == columns) return {result.end, columns};
    ++result.end;
  }
  return result;
}

std::size_t columns_of(std::string_view line) { return first_columns(line, line.size()).count; }

std::size_t end_of(std::string_view line, std::size_t columns) { return first_columns(line, columns).end; }

bool is_picture(std::string_view line) { return line.find('|') < kLeast; }

void append_line(std::string& text, std::string_view line, std::size_t columns) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::string indent(std::min(begin + 4, columns / 2), ' ');
  std::string start;
  while (columns_of(line) + start.size() > columns) {
    const std::size_t end = end_of(line, columns - start.size());
    const std::size_t from = start.empty() ? begin : 0;
    std::size_t space = line.rfind(' ', end);
    if (space == std::string_view::npos || space <= from) space = line.find(' ', end);
    if (space == std::string_view::npos) break;
    text.append(start).append(line.substr(0, space)).push_back('\n');
    line.remove_prefix(std::min(line.find_first_not_of(' ', space), line.size()));
    start = indent;
  }
  text.append(start).append(line);
}

}  // namespace

std::size_t terminal_columns(int descriptor) {
  winsize size = {};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::max<std::size_t>(size.ws_col, kLeast) : kUsual;
}

std::string fitted(std::string_view text, std::size_t columns) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (is_picture(line)) {
      result.append(line);
    } else {
      append_line(result, line, columns);
    }
    if (end < text.size()) result.push_back('\n');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string cut(std::string_view line, std::size_t columns) {
  return std::string(line.substr(0, end_of(line, columns)));
}

}  // namespace stowage::cli
