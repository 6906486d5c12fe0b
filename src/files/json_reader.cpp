#include "files/interface/json_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "stowage/base/printable.hpp"

namespace stowage::files {
namespace {

// Our formats need less: bodies nested 64 deep, with four levels each. Far too small to overflow any stack.
constexpr std::size_t kMaxDepth = 320;

std::string to_string(const Path& path) {
  std::string text;
  for (const PathStep& step : path) {
    if (step.key) {
      text += (text.empty() ? "" : ".") + *step.key;
    } else {
      text += fmt::format("[{}]", step.index);
    }
  }
  return text;
}

/// An entry of a named list that a path leads into.
struct NamedEntry {
  const Json* json = nullptr;
  std::string_view word = {};
  std::size_t index = 0;
};

/// The innermost entry of a named list on `path`; entries may themselves contain named lists.
NamedEntry innermost(const JsonDocument& document, const Path& path) {
  NamedEntry found;
  const Json* at = &document.root;
  for (std::size_t i = 0; i < path.size(); ++i) {
    at = path[i].key ? &(*at)[*path[i].key] : &(*at)[path[i].index];
    if (i == 0 || path[i].key || !path[i - 1].key) continue;
    const auto is_list = [&](const NamedList& named) { return named.list == *path[i - 1].key; };
    const auto named = std::find_if(document.named.begin(), document.named.end(), is_list);
    if (named != document.named.end()) found = {at, named->entry, path[i].index};
  }
  return found;
}

/// "tensor 'x' (3): " if the path leads into an entry that has a name, otherwise "".
std::string subject(const JsonDocument& document, const Path& path) {
  const NamedEntry entry = innermost(document, path);
  if (entry.json == nullptr || !entry.json->is_object()) return "";
  const auto field = entry.json->find("name");
  const auto* name = field == entry.json->end() ? nullptr : field->get_ptr<const std::string*>();
  if (name == nullptr || name->empty()) return "";
  return fmt::format("{} '{}' ({}): ", entry.word, printable(*name), entry.index);
}

/// The library's message without its prefix and without the bytes of the input, which may be long or unprintable. At
/// most 200 characters.
std::string_view essence(std::string_view message) {
  constexpr std::size_t kLongest = 200;
  for (const std::string_view mark : {"] ", ", column ", ": "}) {
    if (const auto at = message.find(mark); at != message.npos) message.remove_prefix(at + mark.size());
  }
  return message.substr(0, message.find("; last read")).substr(0, kLongest);
}

/// Builds the document from the parser's events, and rejects duplicate keys and deep nesting, which the library's own
/// builder accepts.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, JsonDocument& document) : text_(text), document_(document) {}

  /// The error that stopped the parser.
  [[nodiscard]] const Error& error() const { return error_; }

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Json(value)); }
  bool number_float(number_float_t value, const string_t&) override { return add(Json(value)); }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }  // JSON text has none
  bool start_object(std::size_t) override { return open(Json::value_t::object); }
  bool start_array(std::size_t) override { return open(Json::value_t::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override;
  bool parse_error(std::size_t position, const std::string&, const Json::exception& exception) override;

 private:
  /// A container that is not closed yet. It is the last element of its parent, so its address stays valid.
  struct Open {
    Json* container;
    Json::object_t::iterator field = {};  ///< In an object: the field being read.
  };

  Json& put(Json value);
  bool add(Json value) {
    put(std::move(value));
    return true;
  }
  bool open(Json::value_t type);
  bool close() {
    open_.pop_back();
    return true;
  }
  [[nodiscard]] Path path_to_last() const;

  std::string_view text_;
  JsonDocument& document_;
  Error error_;
  std::vector<Open> open_;
};

Json& Builder::put(Json value) {
  if (open_.empty()) return document_.root = std::move(value);
  Open& last = open_.back();
  if (last.container->is_array()) return last.container->emplace_back(std::move(value));
  return last.field->second = std::move(value);
}

bool Builder::open(Json::value_t type) {
  open_.push_back({&put(Json(type))});
  if (open_.size() <= kMaxDepth) return true;
  error_ =
      error_at(document_, path_to_last(), ErrorCode::parse, fmt::format("nested deeper than {} levels", kMaxDepth));
  return false;
}

bool Builder::key(string_t& name) {
  Open& last = open_.back();
  auto [field, inserted] = last.container->get_ref<Json::object_t&>().emplace(std::move(name), nullptr);
  last.field = field;
  if (inserted) return true;
  error_ = error_at(document_, path_to_last(), ErrorCode::parse,
                    fmt::format("duplicate field '{}'", printable(field->first)));
  return false;
}

/// The path of the innermost open container.
Path Builder::path_to_last() const {
  Path path;
  for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
    const Json& container = *open_[i].container;
    path.push_back(container.is_array() ? PathStep{{}, container.size() - 1} : PathStep{open_[i].field->first});
  }
  return path;
}

bool Builder::parse_error(std::size_t position, const std::string&, const Json::exception& exception) {
  // The position includes the byte that revealed the error.
  const std::string_view before = text_.substr(0, position - std::min<std::size_t>(position, 1));
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const std::string message = fmt::format("column {}: {}", before.size() - line_start + 1, essence(exception.what()));
  error_ = error_at(document_, {}, ErrorCode::parse, message);
  error_.where.line = std::count(before.begin(), before.end(), '\n') + 1;
  return false;
}

constexpr std::int64_t kMaxPosition = std::numeric_limits<std::uint32_t>::max();

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The number, if it is an integer that fits.
std::optional<std::int64_t> exact_integer(const Json& json) {
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    return {};
  if (!json.is_number_integer()) return {};
  return json.get<std::int64_t>();
}

}  // namespace

Error error_at(const JsonDocument& document, const Path& path, ErrorCode code, std::string message) {
  Location where{.file = document.file, .line = {}, .path = to_string(path)};
  return Error{code, subject(document, path) + std::move(message), std::move(where)};
}

Result<JsonDocument> parse_json(std::string_view text, const std::string& file, NamedLists named) {
  JsonDocument document{file, named, {}};
  Builder builder(text, document);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return builder.error();
  return document;
}

void JsonValue::fail(ErrorCode code, std::string message) const {
  if (!errors_->first()) errors_->set(path(), code, std::move(message));
}

void JsonValue::fail_type(std::string_view expected) const {
  fail(ErrorCode::parse, fmt::format("must be {}, not {}", expected, json_->type_name()));
}

Path JsonValue::path() const {
  Path path;
  for (const JsonValue* value = this; value->parent_ != nullptr; value = value->parent_) {
    const bool is_field = value->parent_->json_->is_object();
    path.push_back(is_field ? PathStep{std::string(value->key_)} : PathStep{{}, value->index_});
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::string JsonValue::text() const {
  if (const auto* text = json_->get_ptr<const std::string*>()) return *text;
  fail_type("a string");
  return {};
}

bool JsonValue::boolean() const {
  if (const auto* value = json_->get_ptr<const bool*>()) return *value;
  fail_type("true or false");
  return false;
}

std::int64_t JsonValue::integer(std::int64_t lowest, std::int64_t highest) const {
  const std::optional<std::int64_t> value = exact_integer(*json_);
  if (value && lowest <= *value && *value <= highest) return *value;
  const std::string expected = fmt::format("an integer from {} to {}", lowest, highest);
  if (json_->is_number()) {
    fail(ErrorCode::parse, fmt::format("must be {}, not {}", expected, json_->dump()));
  } else {
    fail_type(expected);
  }
  return std::max<std::int64_t>(lowest, 0);
}

double JsonValue::number() const {
  if (json_->is_number()) return json_->get<double>();
  fail_type("a number");
  return 0;
}

std::uint32_t JsonValue::position() const { return static_cast<std::uint32_t>(integer(0, kMaxPosition)); }

std::size_t JsonValue::size() const {
  if (json_->is_array()) return json_->size();
  fail_type("an array");
  return 0;
}

JsonValue JsonValue::element(std::size_t index) const { return JsonValue((*json_)[index], *this, {}, index); }

void JsonValue::require_object() const {
  if (!json_->is_object()) fail_type("an object");
}

void JsonValue::allow_fields(std::span<const std::string_view> known) const {
  const auto* object = json_->get_ptr<const Json::object_t*>();
  if (object == nullptr) return fail_type("an object");
  for (const auto& [name, value] : *object) {
    if (!contains(known, name)) return fail(ErrorCode::parse, fmt::format("unknown field '{}'", printable(name)));
  }
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  const auto* object = json_->get_ptr<const Json::object_t*>();
  if (object == nullptr) return {};
  const auto field = object->find(key);
  if (field == object->end()) return {};
  return JsonValue(field->second, *this, field->first, 0);
}

JsonValue JsonValue::require(std::string_view key) const {
  static const Json kNull;
  if (const auto field = find(key)) return *field;
  require_object();
  fail(ErrorCode::parse, fmt::format("missing field '{}'", key));
  return JsonValue(kNull, *this, key, 0);
}

void JsonValue::require_schema(std::string_view family) const {
  const std::string schema = require("schema").text();
  const std::string expected = fmt::format("{}1", family);
  if (schema == expected) return;
  const ErrorCode code = schema.starts_with(family) ? ErrorCode::unsupported : ErrorCode::parse;
  fail(code, fmt::format("schema is '{}', but this reads '{}'", printable(schema), expected));
}

}  // namespace stowage::files
