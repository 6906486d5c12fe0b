#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/csv/format.hpp"
#include "io/extent.hpp"
#include "io/foreign.hpp"
#include "io/graph_json/format.hpp"
#include "io/inspect.hpp"
#include "io/onnx/format.hpp"
#include "io/tflite/format.hpp"
#include "stowage/io.hpp"

namespace stowage {
namespace {

/// The table of formats: one line each.
constexpr std::array kFormats{
    io::graph_json::kFormat,  //
    io::onnx::kFormat,        //
    io::tflite::kFormat,      //
    io::csv::kFormat,         //
};

bool has_suffix(std::string_view name, const Format& format) {
  constexpr std::string_view kPacked = ".gz";
  if (name.ends_with(kPacked)) name.remove_suffix(kPacked.size());
  return name.ends_with(format.suffix);
}

bool takes(const Format& format, ImportOption option) {
  return std::find(format.options.begin(), format.options.end(), option) != format.options.end();
}

Error fault(ErrorCode code, const std::string& file, std::string message) {
  return Error{code, std::move(message), {.file = file, .line = {}, .path = {}}};
}

Error no_format(std::string_view bytes, const std::string& file) {
  std::vector<std::string> known;
  for (const Format& format : kFormats) known.push_back(fmt::format("{} ({})", format.name, format.suffix));
  return fault(ErrorCode::parse, file,
               fmt::format("{}; known formats: {}",
                           bytes.empty() ? "the file is empty, and its name does not identify a format"
                                         : "unknown format: neither the content nor the name identifies one",
                           fmt::join(known, ", ")));
}

Error not_supported(const io::ForeignFormat& foreign, const std::string& file) {
  return fault(ErrorCode::unsupported, file,
               fmt::format("this is {}, which is not supported; {}", foreign.what, foreign.advice));
}

/// What a file is that no format recognises; null if nothing is known about it.
const io::ForeignFormat* foreign_format(std::string_view bytes, std::string_view name, const Format* format) {
  if (format && format->recognises(bytes)) return nullptr;
  if (const io::ForeignFormat* const found = io::find_foreign(bytes)) return found;
  return format ? nullptr : io::find_foreign_by_name(name);
}

Error no_dims(const Format& format, const std::string& file, const std::string& dim) {
  std::vector<std::string_view> with_dims;
  for (const Format& each : kFormats) {
    if (takes(each, ImportOption::dims)) with_dims.push_back(each.name);
  }
  return fault(ErrorCode::unknown_name, file,
               fmt::format("there is no dim '{}': dims have no names in the format {}, only in {}", dim, format.name,
                           fmt::join(with_dims, ", ")));
}

Error no_shapes(const Format& format, const std::string& file, const std::string& input) {
  std::vector<std::string_view> with_shapes;
  for (const Format& each : kFormats) {
    if (takes(each, ImportOption::shapes)) with_shapes.push_back(each.name);
  }
  return fault(ErrorCode::unknown_name, file,
               fmt::format("the shape of the input '{}' cannot be given: the format {} leaves none open, only {} does",
                           input, format.name, fmt::join(with_shapes, ", ")));
}

/// The format that reads the bytes with these options.
Result<const Format*> format_for(std::string_view bytes, const std::string& file, const ImportOptions& options) {
  const Format* const format = find_format(bytes, file);
  if (const io::ForeignFormat* const foreign = foreign_format(bytes, file, format))
    return not_supported(*foreign, file);
  if (!format) return no_format(bytes, file);
  if (!options.dims.empty() && !takes(*format, ImportOption::dims))
    return no_dims(*format, file, options.dims.begin()->first);
  if (!options.shapes.empty() && !takes(*format, ImportOption::shapes))
    return no_shapes(*format, file, options.shapes.begin()->first);
  return format;
}

Result<Imported> parse_within_limit(const Format& format, std::string_view bytes, const std::string& file,
                                    const ImportOptions& options) {
  Result<Imported> imported = format.parse(bytes, file, options);
  if (const Graph* const graph = imported ? std::get_if<Graph>(&*imported) : nullptr) {
    Status fits = io::check_extent(*graph, options.limit);
    if (!fits) return fault(fits.error().code, file, std::move(fits.error().message));
  }
  return imported;
}

/// The result, but with a better error for bytes that turned out to be of another kind: the beginnings of several
/// protobuf formats look alike.
template <class T>
Result<T> or_not_supported(Result<T> result, const std::string& file) {
  if (result || result.error().code != ErrorCode::parse) return result;
  const io::ForeignFormat* const foreign = io::find_foreign_by_name(file);
  return foreign ? Result<T>(not_supported(*foreign, file)) : std::move(result);
}

}  // namespace

std::span<const Format> formats() { return kFormats; }

const Format* find_format(std::string_view bytes, std::string_view name) {
  const Format* recognised = nullptr;
  const Format* named = nullptr;
  for (const Format& format : kFormats) {
    const bool suffix = has_suffix(name, format);
    if (suffix) named = &format;
    if (!format.recognises(bytes)) continue;
    if (suffix) return &format;
    if (!recognised) recognised = &format;
  }
  return recognised ? recognised : named;
}

Result<Imported> import_bytes(std::string_view bytes, const std::string& file, const ImportOptions& options) {
  STOWAGE_TRY(const Format* const format, format_for(bytes, file, options));
  return or_not_supported(parse_within_limit(*format, bytes, file, options), file);
}

Result<FileInfo> inspect_bytes(std::string_view bytes, const std::string& file, const ImportOptions& options) {
  STOWAGE_TRY(const Format* const format, format_for(bytes, file, options));
  Result<FileInfo> info =
      or_not_supported(format->inspect ? format->inspect(bytes, file, options)
                                       : io::inspect_parsed(parse_within_limit(*format, bytes, file, options)),
                       file);
  if (info) info->format = format->name;
  return info;
}

}  // namespace stowage
