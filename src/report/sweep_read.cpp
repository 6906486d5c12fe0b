#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "files/interface/csv_text.hpp"
#include "report/sweep_columns.hpp"
#include "stowage/report/sweep.hpp"

namespace stowage {
namespace {

using files::next_line;
using report::kSweepColumns;

constexpr std::size_t kColumns = kSweepColumns.size();

/// The text of each column in the order of `kSweepColumns`; empty: absent.
using Fields = std::array<std::string, kColumns>;

Error fault_at(const std::string& file, std::int64_t line, std::string message) {
  return Error{ErrorCode::parse, std::move(message), {.file = file, .line = line, .path = {}}};
}

std::size_t column_named(std::string_view name) {
  return static_cast<std::size_t>(std::find(kSweepColumns.begin(), kSweepColumns.end(), name) - kSweepColumns.begin());
}

constexpr bool is_needed(std::size_t column) { return column == 0 || column == 2 || column == 3 || column == 4; }

Result<std::optional<Bytes>> size_in(const Fields& fields, std::size_t column, const std::string& file,
                                     std::int64_t line) {
  const std::string& text = fields[column];
  if (text.empty()) return std::optional<Bytes>();
  const std::optional<std::int64_t> value = files::parse_integer(text);
  if (!value || *value < 0)
    return fault_at(file, line, fmt::format("{}: '{}' is not a number of bytes", kSweepColumns[column], text));
  return std::optional(Bytes(*value));
}

Result<SweepRow> row_of(const Fields& fields, const std::string& file, std::int64_t line) {
  SweepRow row{.input = fields[0], .hash = fields[1], .dims = fields[2], .options = fields[3]};
  STOWAGE_TRY(row.peak, size_in(fields, 4, file, line));
  STOWAGE_TRY(row.bound, size_in(fields, 5, file, line));
  if (!fields[6].empty()) row.proven = fields[6] == "true" || fields[6] == "True";
  STOWAGE_TRY(row.weights, size_in(fields, 7, file, line));
  STOWAGE_TRY(row.total, size_in(fields, 8, file, line));
  row.status = fields[9];
  if (!fields[10].empty()) row.ms = std::strtod(fields[10].c_str(), nullptr);
  row.error = fields[11];
  return row;
}

/// By field of the header: its column; `kColumns` for an unknown one.
Result<std::vector<std::size_t>> columns_of(std::string_view header, const std::string& file) {
  std::vector<std::string_view> names;
  if (!files::split_fields(header, names)) return fault_at(file, 1, "a quote is not closed");
  std::vector<std::size_t> columns;
  for (const std::string_view name : names) columns.push_back(column_named(files::text_of(name)));
  for (std::size_t column = 0; column < kColumns; ++column) {
    if (is_needed(column) && std::find(columns.begin(), columns.end(), column) == columns.end())
      return fault_at(file, 1,
                      fmt::format("this is no table of a sweep: there is no column '{}'", kSweepColumns[column]));
  }
  return columns;
}

Result<std::vector<SweepRow>> parse_csv_table(std::string_view text, const std::string& file) {
  STOWAGE_TRY(const std::vector<std::size_t> columns, columns_of(next_line(text), file));
  std::vector<SweepRow> rows;
  std::vector<std::string_view> written;
  for (std::int64_t line = 2; !text.empty(); ++line) {
    const std::string_view content = next_line(text);
    if (files::trim(content).empty()) continue;
    if (!files::split_fields(content, written)) return fault_at(file, line, "a quote is not closed");
    if (written.size() != columns.size())
      return fault_at(file, line, fmt::format("{} fields, but the header has {}", written.size(), columns.size()));
    Fields fields;
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (columns[i] < kColumns) fields[columns[i]] = files::text_of(written[i]);
    }
    STOWAGE_TRY(SweepRow row, row_of(fields, file, line));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string text_of_value(const nlohmann::json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<std::vector<SweepRow>> parse_json_table(std::string_view text, const std::string& file) {
  std::vector<SweepRow> rows;
  for (std::int64_t line = 1; !text.empty(); ++line) {
    const std::string_view content = files::trim(next_line(text));
    if (content.empty()) continue;
    const nlohmann::json object = nlohmann::json::parse(content, nullptr, false);
    if (!object.is_object()) return fault_at(file, line, "this is not a JSON object");
    Fields fields;
    for (std::size_t column = 0; column < kColumns; ++column) {
      const auto value = object.find(kSweepColumns[column]);
      if (value != object.end()) {
        fields[column] = text_of_value(*value);
      } else if (is_needed(column)) {
        return fault_at(file, line, fmt::format("this is no row of a sweep: there is no '{}'", kSweepColumns[column]));
      }
    }
    STOWAGE_TRY(SweepRow row, row_of(fields, file, line));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<std::vector<SweepRow>> parse_sweep(std::string_view text, const std::string& file) {
  text = files::without_byte_order_mark(text);
  const bool json = files::trim(text).starts_with('{');
  return json ? parse_json_table(text, file) : parse_csv_table(text, file);
}

}  // namespace stowage
