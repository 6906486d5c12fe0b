#include "table.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "timing.hpp"

namespace stowage::bench {
namespace {

/// The number of code points; each one that we print is one column wide.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

void Table::print() const {
  std::vector<std::size_t> widths(rows_.front().size(), 3);
  for (const std::vector<std::string>& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < widths.size(); ++c) {
      fmt::print(fmt::runtime(c == 0 ? "| {:<{}} " : "| {:>{}} "), rows_[r][c], widths[c]);
    }
    fmt::print("|\n");
    if (r > 0) continue;
    for (std::size_t c = 0; c < widths.size(); ++c) fmt::print("|{:-<{}}{}", "", widths[c] + 1, c == 0 ? "-" : ":");
    fmt::print("|\n");
  }
  fmt::print("\n");
}

std::string with_commas(long long number) {
  std::string text = std::to_string(number);
  for (std::size_t end = text.size(); end > 3 && text[end - 4] != '-'; end -= 3) text.insert(end - 3, 1, ',');
  return text;
}

std::string ratio(long long peak, long long bound) {
  if (peak == bound) return "1";
  return fmt::format("{:.4f}", static_cast<double>(peak) / static_cast<double>(bound));
}

std::string to_text(double milliseconds) {
  const int decimals = milliseconds < 1 ? 3 : milliseconds < 10 ? 2 : milliseconds < 100 ? 1 : 0;
  return fmt::format("{:.{}f}", milliseconds, decimals);
}

std::string to_text(const Timing& timing) { return to_text(timing.best) + " / " + to_text(timing.median); }

}  // namespace stowage::bench
