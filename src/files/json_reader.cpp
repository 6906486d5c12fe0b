#include "files/interface/json_reader.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "files/json_fault.hpp"
#include "files/json_nodes.hpp"
#include "stowage/base/printable.hpp"

namespace stowage::files {
namespace {

using Kind = JsonNode::Kind;

constexpr std::int64_t kMaxPosition = std::numeric_limits<std::uint32_t>::max();

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view type_of(const JsonNode& node) {
  switch (node.kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "boolean";
    case Kind::integer:
    case Kind::unsigned_integer:
    case Kind::number:
      return "number";
    case Kind::string:
      return "string";
    case Kind::array:
      return "array";
    case Kind::object:
      return "object";
  }
  return "";
}

bool is_number(const JsonNode& node) {
  return node.kind == Kind::integer || node.kind == Kind::unsigned_integer || node.kind == Kind::number;
}

/// As the library writes it.
std::string text_of_number(const JsonNode& node) {
  if (node.kind == Kind::integer) return std::to_string(node.integer);
  if (node.kind == Kind::unsigned_integer) return std::to_string(node.unsigned_integer);
  return nlohmann::json(node.number).dump();
}

}  // namespace

Result<JsonDocument> parse_json(std::string_view text, const std::string& file, NamedLists named,
                                const JsonLimits& limits) {
  JsonDocument document{file, named, {}, {}};
  switch (parse_json_nodes(text, limits, document)) {
    case JsonParse::done:
      return document;
    case JsonParse::too_many_objects:
      return Error{ErrorCode::unsupported,
                   fmt::format("it has more than {} objects, which is the limit; --limit raises it", limits.objects),
                   {.file = file, .line = {}, .path = {}}};
    case JsonParse::fault:
      break;
  }
  return find_json_fault(text, file, named);
}

void JsonValue::fail(ErrorCode code, std::string message) const {
  if (errors_->first()) return;
  errors_->set({code, subject() + std::move(message), {.file = document_->file, .line = {}, .path = path()}});
}

void JsonValue::fail_type(std::string_view expected) const {
  fail(ErrorCode::parse, fmt::format("must be {}, not {}", expected, type_of(*node_)));
}

std::string JsonValue::path() const {
  if (parent_ == nullptr) return {};
  std::string before = parent_->path();
  if (parent_->node_->kind == Kind::array) return before + fmt::format("[{}]", index_);
  return (before.empty() ? before : before + ".") + std::string(key_);
}

bool JsonValue::is_in(std::string_view list) const {
  return parent_ != nullptr && parent_->node_->kind == Kind::array && parent_->parent_ != nullptr &&
         parent_->parent_->node_->kind == Kind::object && parent_->key_ == list;
}

/// "tensor 'x' (3): " if this is, or is in, an entry of a named list that has a name; of several, the innermost.
std::string JsonValue::subject() const {
  for (const JsonValue* value = this; value != nullptr; value = value->parent_) {
    const auto named = std::find_if(document_->named.begin(), document_->named.end(),
                                    [&](const NamedList& each) { return value->is_in(each.list); });
    if (named == document_->named.end()) continue;
    const JsonNode* const name = value->field("name");
    if (name == nullptr || name->kind != Kind::string || name->size == 0) return {};
    return fmt::format("{} '{}' ({}): ", named->entry, printable(name->string()), value->index_);
  }
  return {};
}

std::string JsonValue::text() const {
  if (node_->kind == Kind::string) return std::string(node_->string());
  fail_type("a string");
  return {};
}

bool JsonValue::boolean() const {
  if (node_->kind == Kind::boolean) return node_->size != 0;
  fail_type("true or false");
  return false;
}

std::int64_t JsonValue::integer(std::int64_t lowest, std::int64_t highest) const {
  if (node_->kind == Kind::integer && lowest <= node_->integer && node_->integer <= highest) return node_->integer;
  const std::string expected = fmt::format("an integer from {} to {}", lowest, highest);
  if (is_number(*node_)) {
    fail(ErrorCode::parse, fmt::format("must be {}, not {}", expected, text_of_number(*node_)));
  } else {
    fail_type(expected);
  }
  return std::max<std::int64_t>(lowest, 0);
}

double JsonValue::number() const {
  if (node_->kind == Kind::number) return node_->number;
  if (node_->kind == Kind::integer) return static_cast<double>(node_->integer);
  if (node_->kind == Kind::unsigned_integer) return static_cast<double>(node_->unsigned_integer);
  fail_type("a number");
  return 0;
}

std::uint32_t JsonValue::position() const { return static_cast<std::uint32_t>(integer(0, kMaxPosition)); }

std::size_t JsonValue::size() const {
  if (node_->kind == Kind::array) return node_->size;
  fail_type("an array");
  return 0;
}

JsonValue JsonValue::element(std::size_t index) const {
  const JsonNode* node = node_ + 1;
  for (std::size_t i = 0; i < index; ++i) node = behind(node);
  return JsonValue(node, *this, {}, index);
}

void JsonValue::require_object() const {
  if (node_->kind != Kind::object) fail_type("an object");
}

void JsonValue::allow_fields(std::span<const std::string_view> known) const {
  if (node_->kind != Kind::object) return fail_type("an object");
  const JsonNode* key = node_ + 1;
  for (std::uint32_t f = 0; f < node_->size; ++f, key = behind(key + 1)) {
    if (!contains(known, key->string()))
      return fail(ErrorCode::parse, fmt::format("unknown field '{}'", printable(key->string())));
  }
}

const JsonNode* JsonValue::field(std::string_view key) const {
  if (node_->kind != Kind::object) return nullptr;
  const JsonNode* each = node_ + 1;
  for (std::uint32_t f = 0; f < node_->size; ++f, each = behind(each + 1)) {
    if (each->string() == key) return each + 1;
  }
  return nullptr;
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  const JsonNode* const value = field(key);
  if (value == nullptr) return {};
  return JsonValue(value, *this, (value - 1)->string(), 0);
}

JsonValue JsonValue::require(std::string_view key) const {
  static constexpr JsonNode kNull;
  if (const auto found = find(key)) return *found;
  require_object();
  fail(ErrorCode::parse, fmt::format("missing field '{}'", key));
  return JsonValue(&kNull, *this, key, 0);
}

void JsonValue::require_schema(std::string_view family) const {
  const std::string schema = require("schema").text();
  const std::string expected = fmt::format("{}1", family);
  if (schema == expected) return;
  const ErrorCode code = schema.starts_with(family) ? ErrorCode::unsupported : ErrorCode::parse;
  fail(code, fmt::format("schema is '{}', but this reads '{}'", printable(schema), expected));
}

}  // namespace stowage::files
