#include "files/json_fault.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "files/json_nodes.hpp"
#include "stowage/base/printable.hpp"

/// Reads the text again with a library that says what is wrong with it. That takes ten times as long, and as much
/// memory, as `parse_json_nodes`, but only once.
namespace stowage::files {
namespace {

using Json = nlohmann::json;

/// One step from the root of a document towards a value: a field's name, or a position in an array.
struct PathStep {
  std::optional<std::string> key;
  std::size_t index = 0;
};
using Path = std::vector<PathStep>;

/// What was read before the fault.
struct Document {
  const std::string& file;
  NamedLists named;
  Json root;
};

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
NamedEntry innermost(const Document& document, const Path& path) {
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
std::string subject(const Document& document, const Path& path) {
  const NamedEntry entry = innermost(document, path);
  if (entry.json == nullptr || !entry.json->is_object()) return "";
  const auto field = entry.json->find("name");
  const auto* name = field == entry.json->end() ? nullptr : field->get_ptr<const std::string*>();
  if (name == nullptr || name->empty()) return "";
  return fmt::format("{} '{}' ({}): ", entry.word, printable(*name), entry.index);
}

Error error_at(const Document& document, const Path& path, std::string message) {
  Location where{.file = document.file, .line = {}, .path = to_string(path)};
  return Error{ErrorCode::parse, subject(document, path) + std::move(message), std::move(where)};
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
  Builder(std::string_view text, Document& document) : text_(text), document_(document) {}

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
  Document& document_;
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
  if (open_.size() <= kMaxJsonDepth) return true;
  error_ = error_at(document_, path_to_last(), fmt::format("nested deeper than {} levels", kMaxJsonDepth));
  return false;
}

bool Builder::key(string_t& name) {
  Open& last = open_.back();
  auto [field, inserted] = last.container->get_ref<Json::object_t&>().emplace(std::move(name), nullptr);
  last.field = field;
  if (inserted) return true;
  error_ = error_at(document_, path_to_last(), fmt::format("duplicate field '{}'", printable(field->first)));
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
  error_ = error_at(document_, {}, message);
  error_.where.line = std::count(before.begin(), before.end(), '\n') + 1;
  return false;
}

}  // namespace

Error find_json_fault(std::string_view text, const std::string& file, NamedLists named) {
  Document document{file, named, {}};
  Builder builder(text, document);
  const bool read = Json::sax_parse(text.begin(), text.end(), &builder);
  return read ? Error{ErrorCode::parse, "not read as JSON", {.file = file, .line = {}, .path = {}}} : builder.error();
}

}  // namespace stowage::files
