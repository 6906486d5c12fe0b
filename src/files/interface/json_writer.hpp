#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

/// Writes JSON with the fields in the given order and the entries of long lists on separate lines, so that files are
/// easy to compare with line-based tools.
namespace stowage::files {

using OrderedJson = nlohmann::ordered_json;

/// The number, as an integer where it is one that a reader of 64-bit floating point takes exactly.
[[nodiscard]] OrderedJson number_to_json(double value);

/// The value on one line. Invalid UTF-8 becomes U+FFFD: a name must not make a file unreadable.
[[nodiscard]] std::string to_line(const OrderedJson& value);

/// Appends `to_text(entry)` for each entry, one per line, and the `]` that ends the list.
template <class Entries, class ToText>
void append_lines(std::string& text, const Entries& entries, ToText to_text) {
  const char* separator = "\n";
  for (const auto& entry : entries) {
    text += separator;
    text += to_text(entry);
    separator = ",\n";
  }
  text += ']';
}

/// Appends `,`, a line break and `"name":[…]` with one line per entry, made by `to_json(entry)`.
template <class Entries, class ToJson>
void append_list(std::string& text, std::string_view name, const Entries& entries, ToJson to_json) {
  text += ",\n\"";
  text += name;
  text += "\":[";
  append_lines(text, entries, [&](const auto& entry) { return to_line(to_json(entry)); });
}

}  // namespace stowage::files
