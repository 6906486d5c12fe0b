#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

/// Writing of JSON with the fields in the order given, and one entry of a long list per line, so that files compare
/// well.
namespace stowage::files {

using OrderedJson = nlohmann::ordered_json;

/// On one line. Bytes that are not UTF-8 become U+FFFD: a name must not make a file that nobody can read.
[[nodiscard]] std::string to_line(const OrderedJson& value);

/// Appends what `to_text` makes of each entry, each on a line of its own, and the `]` that ends the list.
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

/// Appends `,` and a new line, and `"name":[…]` with a line for what `to_json` makes of each entry.
template <class Entries, class ToJson>
void append_list(std::string& text, std::string_view name, const Entries& entries, ToJson to_json) {
  text += ",\n\"";
  text += name;
  text += "\":[";
  append_lines(text, entries, [&](const auto& entry) { return to_line(to_json(entry)); });
}

}  // namespace stowage::files
