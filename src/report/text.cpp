#include "report/text.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace stowage::report {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The byte position of character number `count`.
std::size_t position_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (continues(text[at])) continue;
    if (count-- == 0) break;
  }
  return at;
}

}  // namespace

std::string size_text(Bytes bytes, SizeStyle style) {
  if (style == SizeStyle::bytes) return std::to_string(bytes.value());
  return bytes < Bytes(0) ? "-" + to_human(Bytes(-bytes.value())) : to_human(bytes);
}

std::string percent_text(Bytes part, Bytes whole) {
  if (whole == Bytes(0)) return "0.0%";
  return fmt::format("{:.1f}%", 100.0 * static_cast<double>(part.value()) / static_cast<double>(whole.value()));
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string clipped(std::string_view name, std::size_t width) {
  std::string plain(name);
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  const std::size_t columns = columns_of(plain);
  if (columns <= width) return plain;
  const std::size_t kept = width - 2;
  const std::size_t front = kept / 2;
  return plain.substr(0, position_of(plain, front)) + ".." + plain.substr(position_of(plain, columns - (kept - front)));
}

std::string wrapped(std::string start, std::string_view text, std::size_t indent) {
  std::string result = std::move(start);
  std::size_t column = columns_of(result);
  bool begins = true;  // no space before the next word
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = clipped(text.substr(at, end - at), kWidth - indent);
    at = end + 1;
    const std::size_t width = columns_of(word);
    if (column + (begins ? 0 : 1) + width > kWidth) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!begins) {
      result += ' ';
      ++column;
    }
    begins = false;
    result += word;
    column += width;
  }
  return result + '\n';
}

std::string name_text(const Holder& holder, std::size_t width) {
  if (holder.beside == 0) return clipped(holder.name, width);
  const std::string more = fmt::format(" +{}", holder.beside);
  return clipped(holder.name, width - more.size()) + more;
}

std::string count_text(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string steps_text(Interval steps) {
  if (steps.length() <= Step(1)) return std::to_string(steps.lower.value());
  return fmt::format("{}-{}", steps.lower.value(), steps.upper.value() - 1);
}

std::string families_text(const std::vector<Holder>& holders) {
  std::vector<std::pair<std::string, std::vector<const Holder*>>> families;
  std::map<std::string, std::size_t> known;
  for (const Holder& holder : holders) {
    const auto [entry, is_new] = known.try_emplace(holder.family, families.size());
    if (is_new) families.emplace_back(holder.family, std::vector<const Holder*>{});
    families[entry->second].second.push_back(&holder);
  }
  std::string text;
  for (const auto& [family, members] : families) {
    if (!text.empty()) text += ", ";
    constexpr std::size_t kName = 60;
    text += members.size() == 1 ? name_text(*members.front(), kName)
                                : fmt::format("{} ({})", clipped(family, kName), members.size());
  }
  return text;
}

}  // namespace stowage::report
