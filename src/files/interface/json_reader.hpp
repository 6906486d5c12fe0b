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

/// Strict reading of JSON: whatever a file says is either understood or refused with the path to it. The one place that
/// knows how the JSON library reports trouble; none of its exceptions leaves it.
namespace stowage::files {

using Json = nlohmann::json;

/// One step from the root of a document towards a value: a field's name, or a position in an array.
struct PathStep {
  std::optional<std::string> key;
  std::size_t index = 0;
};
using Path = std::vector<PathStep>;

/// A list whose entries have a field "name", by which errors call them: of {"tensors", "tensor"}, "tensor 'x' (3): …".
struct NamedList {
  std::string_view list;   ///< The field's name, wherever in the document it is.
  std::string_view entry;  ///< What one of them is called.
};
using NamedLists = std::span<const NamedList>;  ///< Outlives what is read with it.

/// A document that is well-formed: no duplicate key, no invalid UTF-8, nesting within bounds.
struct JsonDocument {
  std::string file;
  NamedLists named;
  Json root;
};

/// Fails with `ErrorCode::parse`: on a syntax error with line and column, on a duplicate key with the path.
Result<JsonDocument> parse_json(std::string_view text, const std::string& file, NamedLists named = {});

/// An error in `document`; names the last entry of a named list that `path` leads through, when it has a name.
[[nodiscard]] Error error_at(const JsonDocument& document, const Path& path, ErrorCode code, std::string message);

/// The first thing wrong with a document. Readers go on after a fault, with a default in place of what was wrong, and
/// look here once at the end; so each reads like a list of fields.
class JsonErrors {
 public:
  explicit JsonErrors(const JsonDocument& document) : document_(&document) {}

  /// Precondition: there is none yet.
  void set(const Path& path, ErrorCode code, std::string message) {
    first_ = error_at(*document_, path, code, std::move(message));
  }
  [[nodiscard]] const std::optional<Error>& first() const { return first_; }

 private:
  const JsonDocument* document_;
  std::optional<Error> first_;
};

/// A value and the way to it. A value points to the one it was reached through, which must outlive it.
class JsonValue {
 public:
  JsonValue(const JsonDocument& document, JsonErrors& errors) : json_(&document.root), errors_(&errors) {}

  /// Ignored when something was wrong before.
  void fail(ErrorCode code, std::string message) const;

  [[nodiscard]] bool is_null() const { return json_->is_null(); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer(std::int64_t lowest, std::int64_t highest) const;
  [[nodiscard]] Bytes bytes() const { return Bytes(integer(0, kMaxBytes.value())); }
  [[nodiscard]] std::uint8_t byte() const { return static_cast<std::uint8_t>(integer(0, 255)); }
  /// A position in some list.
  [[nodiscard]] std::uint32_t position() const;

  /// The number of elements of an array; anything else is an error and has 0.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] JsonValue element(std::size_t index) const;
  /// What `read_one` makes of each element.
  template <class ReadOne>
  [[nodiscard]] auto list(ReadOne read_one) const {
    std::vector<decltype(read_one(*this))> result;
    const std::size_t count = size();
    result.reserve(count);
    for (std::size_t i = 0; i < count; ++i) result.push_back(read_one(element(i)));
    return result;
  }

  /// Must be an object, whatever is in it.
  void require_object() const;
  /// Must be an object without fields other than `known`.
  void allow_fields(std::span<const std::string_view> known) const;
  /// Nothing when the field is absent, or this is not an object.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;
  /// An absent field is an error, and reads as null.
  [[nodiscard]] JsonValue require(std::string_view key) const;
  /// The field "schema" must be `family` + "1".
  void require_schema(std::string_view family) const;

 private:
  JsonValue(const Json& json, const JsonValue& parent, std::string_view key, std::size_t index)
      : json_(&json), errors_(parent.errors_), parent_(&parent), key_(key), index_(index) {}

  void fail_type(std::string_view expected) const;
  [[nodiscard]] Path path() const;

  const Json* json_;
  JsonErrors* errors_;
  const JsonValue* parent_ = nullptr;
  std::string_view key_ = {};  ///< In the parent, when that is an object.
  std::size_t index_ = 0;      ///< In the parent, when that is an array.
};

/// What `read` makes of the whole text, or the first thing that is wrong with it.
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
