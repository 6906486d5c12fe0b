#include "input.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage::cli {
namespace {

constexpr std::string_view kTable = "table";
constexpr std::string_view kTflite = "tflite";

/// What files hold (graph, model, table), each with the suffixes of its formats, in the order of `formats()`.
using Kinds = std::vector<std::pair<std::string_view, std::vector<std::string_view>>>;

Kinds kinds_of(Inputs inputs) {
  Kinds kinds;
  for (const Format& format : formats()) {
    if (inputs == Inputs::graphs && format.holds == kTable) continue;
    auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) { return each.first == format.holds; });
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {format.holds, {}});
    kind->second.push_back(format.suffix);
  }
  return kinds;
}

}  // namespace

bool has_extension(const std::string& path, std::string_view extension) {
  std::string_view name = path;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name.ends_with(extension);
}

bool is_tflite(const std::string& path, std::string_view bytes) {
  const Format* const format = find_format(bytes, path);
  return format && format->name == kTflite;
}

Result<Input> read_input(const std::string& path, const ImportOptions& options) {
  STOWAGE_TRY(const std::string bytes, read_file(path));
  return read_input(path, bytes, options);
}

Result<Input> read_input(const std::string& path, std::string_view bytes, const ImportOptions& options) {
  STOWAGE_TRY(Imported content, import_bytes(bytes, path, options));
  return Input{std::move(content), find_format(bytes, path)};
}

std::string input_help(Inputs inputs) {
  const Kinds kinds = kinds_of(inputs);
  std::string text;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0) text += i + 1 == kinds.size() ? " or " : ", ";
    text += fmt::format("{} {} ({})", i == 0 ? "A" : "a", kinds[i].first, fmt::join(kinds[i].second, ", "));
  }
  return text + ", also .gz; - is standard input";
}

std::string formats_help() {
  std::string text =
      "INPUT is a file in one of these formats, recognised by its content or else by its name; also .gz;\n"
      "- is standard input:\n";
  for (const Format& format : formats())
    text += fmt::format("  {:<8} {:<8} {}\n", format.name, format.suffix, format.description);
  return text;
}

std::string formats_with(ImportOption option) {
  std::vector<std::string_view> names;
  for (const Format& format : formats()) {
    if (std::find(format.options.begin(), format.options.end(), option) != format.options.end())
      names.push_back(format.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace stowage::cli
