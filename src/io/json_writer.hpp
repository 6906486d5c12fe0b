#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

/// Writing of JSON with the fields in the order given, and one entry of a long list a line, so that files compare well.
namespace stowage::io {

using OrderedJson = nlohmann::ordered_json;

/// On one line. Bytes that are no UTF-8 become U+FFFD: a name must not make a file that nobody can read.
[[nodiscard]] std::string to_line(const OrderedJson& value);

/// Appends `,` and a new line, and `"name":[…]` with a line for what `to_json` makes of each entry.
template <class Entries, class ToJson>
void append_list(std::string& text, std::string_view name, const Entries& entries, ToJson to_json) {
  text += ",\n\"";
  text += name;
  text += "\":[";
  const char* separator = "\n";
  for (const auto& entry : entries) {
    text += separator;
    text += to_line(to_json(entry));
    separator = ",\n";
  }
  text += ']';
}

}  // namespace stowage::io
