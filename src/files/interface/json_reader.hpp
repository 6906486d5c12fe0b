#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stowage/base.hpp"

/// Strict reading of JSON: every value of a file is either understood or rejected with an error that names its path.
///
/// A document is one list of small nodes, in the order of the text, whose strings lie in the text itself: reading is
/// bound by the speed of memory, and needs 16 bytes for each value. Only a text with a fault is read a second time, by
/// a library that says what is wrong with it.
namespace stowage::files {

/// A list whose entries have a field "name", which errors use: with {"tensors", "tensor"} an error reads "tensor 'x'
/// (3): …".
struct NamedList {
  std::string_view list;   ///< The name of the list's field, at any depth of the document.
  std::string_view entry;  ///< The word for one entry.
};
/// Must outlive everything that is read with it.
using NamedLists = std::span<const NamedList>;

/// A value, or the key of a field, in the order of the text: a container is followed by its elements, a key by its
/// value.
struct JsonNode {
  enum class Kind : std::uint8_t { null, boolean, integer, unsigned_integer, number, string, array, object };

  constexpr explicit JsonNode(Kind its_kind = Kind::null, std::uint32_t its_size = 0)
      : kind(its_kind), size(its_size) {}

  Kind kind;
  /// Of a string: its bytes. Of an array or object: its elements or fields. Of a boolean: 1 if true.
  std::uint32_t size;
  union {
    std::int64_t integer = 0;
    std::uint64_t unsigned_integer;  ///< Above the largest `integer`.
    double number;
    const char* text;
    std::uint64_t end;  ///< Of a container: one past its last node.
  };

  [[nodiscard]] std::string_view string() const { return {text, size}; }
};

/// A well-formed document: no duplicate key, no invalid UTF-8, nesting within the limit. Refers to its text.
struct JsonDocument {
  std::string file;
  NamedLists named;
  std::vector<JsonNode> nodes;
  std::deque<std::string> unescaped;  ///< The strings that do not stand in the text as they are.
};

/// What a document may have; beyond that it is refused with `ErrorCode::unsupported`.
struct JsonLimits {
  std::size_t objects = std::numeric_limits<std::size_t>::max();
};

/// Fails with `ErrorCode::parse`. A syntax error names line and column; a duplicate key or too deep nesting names the
/// path. The text must outlive the document.
Result<JsonDocument> parse_json(std::string_view text, const std::string& file, NamedLists named = {},
                                const JsonLimits& limits = {});

/// Keeps the first error of a document. After an error, readers continue with a default value, and check for an error
/// once at the end. So each reader looks like a plain list of fields.
class JsonErrors {
 public:
  /// Ignored if there was an error before.
  void set(Error error) {
    if (!first_) first_ = std::move(error);
  }
  [[nodiscard]] const std::optional<Error>& first() const { return first_; }

 private:
  std::optional<Error> first_;
};

/// A value and its path. It points to its parent, the value from which it was obtained; the parent must outlive it.
class JsonValue {
 public:
  JsonValue(const JsonDocument& document, JsonErrors& errors)
      : document_(&document), node_(&document.nodes.front()), errors_(&errors) {}

  /// Records an error at this value. Ignored if there was an error before.
  void fail(ErrorCode code, std::string message) const;

  [[nodiscard]] bool is_null() const { return node_->kind == JsonNode::Kind::null; }
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
  /// O(index). Precondition: there is such an element.
  [[nodiscard]] JsonValue element(std::size_t index) const;
  /// The results of `read_one` for all elements.
  template <class ReadOne>
  [[nodiscard]] auto list(ReadOne read_one) const {
    std::vector<decltype(read_one(*this))> result;
    const std::size_t count = size();
    // Elements of the wrong type are small in a file and may be large here.
    result.reserve(std::min(count, kReserved));
    const JsonNode* node = node_ + 1;
    for (std::size_t i = 0; i < count && !errors_->first(); ++i, node = behind(node))
      result.push_back(read_one(JsonValue(node, *this, {}, i)));
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
  static constexpr std::size_t kReserved = std::size_t{1} << 16;

  JsonValue(const JsonNode* node, const JsonValue& parent, std::string_view key, std::size_t index)
      : document_(parent.document_), node_(node), errors_(parent.errors_), parent_(&parent), key_(key), index_(index) {}

  /// The node after a value and all that it contains.
  [[nodiscard]] const JsonNode* behind(const JsonNode* value) const {
    const bool contains = value->kind == JsonNode::Kind::array || value->kind == JsonNode::Kind::object;
    return contains ? document_->nodes.data() + value->end : value + 1;
  }
  /// The value of a field, or null.
  [[nodiscard]] const JsonNode* field(std::string_view key) const;
  void fail_type(std::string_view expected) const;
  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::string subject() const;
  /// Whether this is an entry of a list of that name.
  [[nodiscard]] bool is_in(std::string_view list) const;

  const JsonDocument* document_;
  const JsonNode* node_;
  JsonErrors* errors_;
  const JsonValue* parent_ = nullptr;
  std::string_view key_ = {};  ///< The key in the parent, if that is an object.
  std::size_t index_ = 0;      ///< The index in the parent, if that is an array.
};

/// Parses `text` and applies `read` to its root. Returns the result of `read`, or the first error.
template <class Read>
auto read_json(std::string_view text, const std::string& file, Read read, NamedLists named = {},
               const JsonLimits& limits = {}) -> Result<decltype(read(std::declval<JsonValue>()))> {
  STOWAGE_TRY(const JsonDocument document, parse_json(text, file, named, limits));
  JsonErrors errors;
  auto result = read(JsonValue(document, errors));
  if (errors.first()) return *errors.first();
  return result;
}

}  // namespace stowage::files
