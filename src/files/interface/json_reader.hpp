#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "stowage/base.hpp"

/// Strict reading of JSON: every value of a file is either understood or rejected with an error that names its path.
/// This is the only code that handles the errors of the JSON library; none of the library's exceptions escapes.
namespace stowage::files {

using Json = nlohmann::json;

/// One step from the root of a document towards a value: a field's name, or a position in an array.
struct PathStep {
  std::optional<std::string> key;
  std::size_t index = 0;
};
using Path = std::vector<PathStep>;

/// A list whose entries have a field "name", which errors use: with {"tensors", "tensor"} an error reads "tensor 'x'
/// (3): …".
struct NamedList {
  std::string_view list;   ///< The name of the list's field, at any depth of the document.
  std::string_view entry;  ///< The word for one entry.
};
/// Must outlive everything that is read with it.
using NamedLists = std::span<const NamedList>;

/// A well-formed document: no duplicate key, no invalid UTF-8, nesting within the limit.
struct JsonDocument {
  std::string file;
  NamedLists named;
  Json root;
};

/// Fails with `ErrorCode::parse`. A syntax error names line and column; a duplicate key or too
/// deep nesting names the path.
Result<JsonDocument> parse_json(std::string_view text, const std::string& file, NamedLists named = {});

/// An error at `path` in `document`. If the path goes through entries of named lists, the error names the innermost
/// one, provided that it has a name.
[[nodiscard]] Error error_at(const JsonDocument& document, const Path& path, ErrorCode code, std::string message);

/// Keeps the first error of a document. After an error, readers continue with a default value, and check for an error
/// once at the end. So each reader looks like a plain list of fields.
class JsonErrors {
 public:
  explicit JsonErrors(const JsonDocument& document) : document_(&document) {}

  /// Precondition: no error was set yet.
  void set(const Path& path, ErrorCode code, std::string message) {
    first_ = error_at(*document_, path, code, std::move(message));
  }
  [[nodiscard]] const std::optional<Error>& first() const { return first_; }

 private:
  const JsonDocument* document_;
  std::optional<Error> first_;
};

/// A value and its path. It points to its parent, the value from which it was obtained; the parent must outlive it.
class JsonValue {
 public:
  JsonValue(const JsonDocument& document, JsonErrors& errors) : json_(&document.root), errors_(&errors) {}

  /// Records an error at this value. Ignored if there was an error before.
  void fail(ErrorCode code, std::string message) const;

  [[nodiscard]] bool is_null() const { return json_->is_null(); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer(std::int64_t lowest, std::int64_t highest) const;
  /// Any number, as the nearest one of 64-bit floating point.
  [[nodiscard]] double number() const;
  [[nodiscard]] Bytes bytes() const { return Bytes(integer(0, kMaxBytes.value())); }
  [[nodiscard]] std::uint8_t byte() const { return static_cast<std::uint8_t>(integer(0, 255)); }
  /// An index into a list: an integer from 0 to 2^32 - 1.
  [[nodiscard]] std::uint32_t position() const;

  /// The number of elements of an array. Any other value is an error, and its size is 0.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] JsonValue element(std::size_t index) const;
  /// The results of `read_one` for all elements.
  template <class ReadOne>
  [[nodiscard]] auto list(ReadOne read_one) const {
    std::vector<decltype(read_one(*this))> result;
    const std::size_t count = size();
    result.reserve(count);
    for (std::size_t i = 0; i < count; ++i) result.push_back(read_one(element(i)));
    return result;
  }

  /// Records an error unless this is an object.
  void require_object() const;
  /// Records an error unless this is an object with no fields other than `known`.
  void allow_fields(std::span<const std::string_view> known) const;
  /// Nothing if the field is absent or this is not an object.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;
  /// An absent field is an error, and its value is null.
  [[nodiscard]] JsonValue require(std::string_view key) const;
  /// Records an error unless the field "schema" is `family` + "1".
  void require_schema(std::string_view family) const;

 private:
  JsonValue(const Json& json, const JsonValue& parent, std::string_view key, std::size_t index)
      : json_(&json), errors_(parent.errors_), parent_(&parent), key_(key), index_(index) {}

  void fail_type(std::string_view expected) const;
  [[nodiscard]] Path path() const;

  const Json* json_;
  JsonErrors* errors_;
  const JsonValue* parent_ = nullptr;
  std::string_view key_ = {};  ///< The key in the parent, if that is an object.
  std::size_t index_ = 0;      ///< The index in the parent, if that is an array.
};

/// Parses `text` and applies `read` to its root. Returns the result of `read`, or the first error.
template <class Read>
auto read_json(std::string_view text, const std::string& file, Read read, NamedLists named = {})
    -> Result<decltype(read(std::declval<JsonValue>()))> {
  STOWAGE_TRY(const JsonDocument document, parse_json(text, file, named));
  JsonErrors errors(document);
  auto result = read(JsonValue(document, errors));
  if (errors.first()) return *errors.first();
  return result;
}

}  // namespace stowage::files
