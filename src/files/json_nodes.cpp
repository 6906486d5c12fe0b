#include "files/json_nodes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace stowage::files {
namespace {

using Kind = JsonNode::Kind;

constexpr std::size_t kFewFields = 24;  // compared pair by pair

/// Bytes of a string that stand for themselves.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
std::uint8_t byte(char c) { return static_cast<std::uint8_t>(c); }

/// The length of the UTF-8 sequence at `at`, which is not ASCII; 0 if it is not valid.
std::size_t utf8_length(const char* at, const char* end) {
  const std::uint8_t first = byte(*at);
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || static_cast<std::size_t>(end - at) < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at[i]) & 0xc0) != 0x80) return 0;
  }
  const std::uint8_t second = byte(at[1]);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second > 0x9f;
  const bool too_large = first == 0xf4 && second > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

void append_utf8(std::uint32_t code, std::string& text) {
  const auto add = [&](std::uint32_t value) { text += static_cast<char>(value); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

class Parser {
 public:
  Parser(std::string_view text, const JsonLimits& limits, JsonDocument& document)
      : at_(text.data()),
        end_(text.data() + text.size()),
        limits_(limits),
        document_(document),
        nodes_(document.nodes) {
    if (text.starts_with("\xef\xbb\xbf")) at_ += 3;
  }

  JsonParse run() {
    if (!value()) return fault();
    while (!open_.empty()) {
      if (!next()) return fault();
    }
    skip_space();
    return at_ == end_ ? JsonParse::done : JsonParse::fault;
  }

 private:
  [[nodiscard]] JsonParse fault() const {
    return objects_ > limits_.objects ? JsonParse::too_many_objects : JsonParse::fault;
  }

  void skip_space() {
    while (at_ != end_ && is_space(*at_)) ++at_;
  }
  /// Skips space and the character, if that comes next.
  bool take(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (static_cast<std::size_t>(end_ - at_) < word.size() || std::string_view(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  /// The next element or field of the innermost open container, or its end.
  bool next() {
    JsonNode& container = nodes_[open_.back()];
    const bool object = container.kind == Kind::object;
    if (take(object ? '}' : ']')) return close();
    if (container.size > 0 && !take(',')) return false;
    if (container.size == std::numeric_limits<std::uint32_t>::max()) return false;
    ++container.size;
    if (!object) return value();
    return take('"') && string() && take(':') && value();
  }

  bool value() {
    skip_space();
    if (at_ == end_) return false;
    switch (*at_) {
      case '{':
        return ++objects_ <= limits_.objects && open(Kind::object);
      case '[':
        return open(Kind::array);
      case '"':
        ++at_;
        return string();
      case 't':
        return take("true") && add(JsonNode(Kind::boolean, 1));
      case 'f':
        return take("false") && add(JsonNode(Kind::boolean));
      case 'n':
        return take("null") && add(JsonNode());
      default:
        return number();
    }
  }

  bool add(JsonNode node) {
    nodes_.push_back(node);
    return true;
  }

  bool open(Kind kind) {
    ++at_;
    open_.push_back(nodes_.size());
    return add(JsonNode(kind)) && open_.size() <= kMaxJsonDepth;
  }

  bool close() {
    const std::size_t container = open_.back();
    open_.pop_back();
    nodes_[container].end = nodes_.size();
    return nodes_[container].kind == Kind::array || has_distinct_keys(container);
  }

  bool has_distinct_keys(std::size_t object) {
    keys_.clear();
    for (std::size_t key = object + 1; key < nodes_.size();) {
      keys_.push_back(nodes_[key].string());
      const JsonNode& value = nodes_[key + 1];
      key = value.kind == Kind::array || value.kind == Kind::object ? value.end : key + 2;
    }
    if (keys_.size() > kFewFields) {
      std::sort(keys_.begin(), keys_.end());
      return std::adjacent_find(keys_.begin(), keys_.end()) == keys_.end();
    }
    for (auto key = keys_.begin(); key != keys_.end(); ++key) {
      if (std::find(keys_.begin(), key, *key) != key) return false;
    }
    return true;
  }

  // ------------------------------------------------------------------------------------------------------------
  // strings

  /// Behind the opening quote.
  bool string() {
    const char* const begin = at_;
    while (at_ != end_) {
      if (kPlain[byte(*at_)]) {
        ++at_;
      } else if (*at_ == '"') {
        return add_string({begin, static_cast<std::size_t>(at_++ - begin)});
      } else if (*at_ == '\\') {
        return escaped_string(begin);
      } else if (!skip_utf8()) {
        return false;
      }
    }
    return false;
  }

  bool skip_utf8() {
    const std::size_t length = byte(*at_) < 0x80 ? 0 : utf8_length(at_, end_);
    at_ += length;
    return length > 0;
  }

  bool add_string(std::string_view text) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) return false;
    JsonNode node(Kind::string, static_cast<std::uint32_t>(text.size()));
    node.text = text.data();
    return add(node);
  }

  /// From the first backslash on.
  bool escaped_string(const char* begin) {
    std::string text(begin, at_);
    while (at_ != end_ && *at_ != '"') {
      const char* const from = at_;
      if (kPlain[byte(*at_)]) {
        ++at_;
        text += *from;
      } else if (*at_ == '\\') {
        if (!escape(text)) return false;
      } else {
        if (!skip_utf8()) return false;
        text.append(from, at_);
      }
    }
    if (at_ == end_) return false;
    ++at_;
    return add_string(document_.unescaped.emplace_back(std::move(text)));
  }

  bool escape(std::string& text) {
    if (end_ - at_ < 2) return false;
    const char c = at_[1];
    at_ += 2;
    if (c == 'u') return unicode(text);
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    const std::size_t which = kNames.find(c);
    if (which == kNames.npos) return false;
    text += kMeant[which];
    return true;
  }

  bool unicode(std::string& text) {
    std::uint32_t code = 0;
    if (!hex(code) || (code >= 0xdc00 && code < 0xe000)) return false;
    if (code >= 0xd800 && code < 0xdc00) {
      std::uint32_t low = 0;
      if (!take("\\u") || !hex(low) || low < 0xdc00 || low >= 0xe000) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(code, text);
    return true;
  }

  bool hex(std::uint32_t& code) {
    constexpr std::ptrdiff_t kDigits = 4;
    if (end_ - at_ < kDigits) return false;
    const auto [rest, failure] = std::from_chars(at_, at_ + kDigits, code, 16);
    const bool all = failure == std::errc() && rest == at_ + kDigits;
    at_ += kDigits;
    return all;
  }

  // ------------------------------------------------------------------------------------------------------------
  // numbers

  bool skip_digits() {
    const char* const begin = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return at_ != begin;
  }

  bool number() {
    const char* const begin = at_;
    if (*at_ == '-') ++at_;
    const char* const digits = at_;
    if (!skip_digits() || (*digits == '0' && at_ - digits > 1)) return false;
    bool whole = true;
    if (at_ != end_ && *at_ == '.') {
      whole = false;
      ++at_;
      if (!skip_digits()) return false;
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      whole = false;
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (!skip_digits()) return false;
    }
    return (whole && add_whole(begin)) || add_real(begin);
  }

  /// False if it is too large.
  bool add_whole(const char* begin) {
    std::int64_t integer = 0;
    if (std::from_chars(begin, at_, integer).ec == std::errc()) {
      JsonNode node(Kind::integer);
      node.integer = integer;
      return add(node);
    }
    std::uint64_t large = 0;
    if (*begin == '-' || std::from_chars(begin, at_, large).ec != std::errc()) return false;
    JsonNode node(Kind::unsigned_integer);
    node.unsigned_integer = large;
    return add(node);
  }

  bool add_real(const char* begin) {
    double number = 0;
    // A number too small for a double is rounded, as everywhere; one too large is a fault.
    if (std::from_chars(begin, at_, number).ec != std::errc())
      number = std::strtod(std::string(begin, at_).c_str(), nullptr);
    JsonNode node(Kind::number);
    node.number = number;
    return std::isfinite(number) && add(node);
  }

  const char* at_;
  const char* end_;
  const JsonLimits& limits_;
  JsonDocument& document_;
  std::vector<JsonNode>& nodes_;
  std::vector<std::size_t> open_;  ///< The containers that are not closed yet.
  std::vector<std::string_view> keys_;
  std::size_t objects_ = 0;
};

}  // namespace

JsonParse parse_json_nodes(std::string_view text, const JsonLimits& limits, JsonDocument& document) {
  return Parser(text, limits, document).run();
}

}  // namespace stowage::files
