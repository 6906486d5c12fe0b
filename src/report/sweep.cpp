#include "stowage/report/sweep.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "files/interface/json_writer.hpp"
#include "report/sweep_columns.hpp"

namespace stowage {
namespace {

using files::OrderedJson;
using Json = nlohmann::json;  // with its keys sorted

std::string canonical(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <class Value>
void put(Json& json, const char* name, const Value& value, const Value& usual) {
  if (value != usual) json[name] = value;
}

void put_size(Json& json, const char* name, const std::optional<Bytes>& size) {
  if (size) json[name] = size->value();
}

/// `value` if it is not the usual one.
template <class Choice>
void put_choice(Json& json, const char* name, Choice value, Choice other, const char* word) {
  if (value == other) json[name] = word;
}

void put_knobs(Json& json, const ReuseKnobs& knobs) {
  using Sizes = ReuseKnobs::SizeClasses;
  json["sort"] = knobs.sort == ReuseKnobs::Sort::ascending ? "ascending" : "descending";
  json["release"] = knobs.release == ReuseKnobs::Release::first ? "first" : "last";
  json["size_classes"] = knobs.size_classes == Sizes::exact   ? "exact"
                         : knobs.size_classes == Sizes::range ? "range"
                                                              : "one";
}

void put_constraints(Json& json, const PlanOptions& options) {
  put(json, "in_place", options.in_place, true);
  put(json, "keep_inputs", options.keep_inputs, false);
  put(json, "no_reuse", options.no_reuse, false);
  put(json, "no_reuse_names", options.no_reuse_names, {});
  put_choice(json, "zero_fill", options.zero_fill, FillPolicy::separate, "separate");
  put_choice(json, "base", options.base, AddressBase::refreshable, "refreshable");
  put_choice(json, "batch_start", options.batch_start, BatchStart::same, "same");
  put_choice(json, "padding", options.padding, Padding::none, "none");
  put_size(json, "region_limit", options.region_limit);
  put(json, "fuse_inputs_up_to", options.fuse_inputs_up_to.value(), std::int64_t{0});
}

void put_solving(Json& json, const PlanOptions& options) {
  put_size(json, "capacity", options.capacity);
  put_size(json, "capacity_total", options.capacity_total);
  put(json, "solver", options.solver, std::string("auto"));
  if (options.time_limit) json["time_limit"] = std::chrono::duration<double>(*options.time_limit).count();
  put(json, "threads", options.threads, std::uint32_t{1});
  put(json, "seed", options.seed, std::uint64_t{0});
  if (options.node_budget) json["node_budget"] = *options.node_budget;
  put(json, "memory_priority", options.memory_priority, false);
  if (options.reuse) put_knobs(json, *options.reuse);
}

OrderedJson size_json(const std::optional<Bytes>& size) { return size ? OrderedJson(size->value()) : OrderedJson(); }

OrderedJson text_json(const std::string& text) { return text.empty() ? OrderedJson() : OrderedJson(text); }

/// To microseconds: more would be noise.
double rounded(double ms) { return std::round(ms * 1000) / 1000; }

OrderedJson row_json(const SweepRow& row) {
  return {{"input", row.input},
          {"hash", text_json(row.hash)},
          {"dims", row.dims},
          {"options", row.options},
          {"peak", size_json(row.peak)},
          {"bound", size_json(row.bound)},
          {"proven", row.proven ? OrderedJson(*row.proven) : OrderedJson()},
          {"weights", size_json(row.weights)},
          {"total", size_json(row.total)},
          {"status", text_json(row.status)},
          {"ms", row.ms ? OrderedJson(rounded(*row.ms)) : OrderedJson()},
          {"error", text_json(row.error)}};
}

/// In quotes where readers of CSV need them.
std::string field_of(const std::string& text) {
  const bool spaced = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (!spaced && text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + '"';
}

std::string csv_field(const OrderedJson& value) {
  if (value.is_null()) return "";
  return field_of(value.is_string() ? value.get<std::string>() : files::to_line(value));
}

}  // namespace

std::string sweep_dims(const std::map<std::string, std::int64_t>& dims) { return canonical(Json(dims)); }

std::string sweep_options(const PlanOptions& options, const ImportOptions& import) {
  Json json = Json::object();
  put_constraints(json, options);
  put_solving(json, options);
  put_size(json, "alignment", import.alignment);
  put(json, "views", import.views, true);
  if (import.fold) json["fold"] = *import.fold;
  if (!import.shapes.empty()) json["shapes"] = import.shapes;
  put(json, "limit", import.limit, std::uint32_t{1});
  return canonical(json);
}

void set_figures(SweepRow& row, const Summary& summary) {
  row.status = summary.status;
  row.bound = summary.lower_bound;
  if (summary.status != to_string(SolveStatus::optimal) && summary.status != to_string(SolveStatus::feasible)) return;
  row.peak = summary.peak;
  row.proven = summary.proven_optimal;
  row.weights = summary.weights;
  row.total = summary.total;
}

std::string sweep_to_csv(std::span<const SweepRow> rows) {
  std::string text;
  for (const std::string_view column : report::kSweepColumns) {
    text += column;
    text += column == report::kSweepColumns.back() ? '\n' : ',';
  }
  for (const SweepRow& row : rows) {
    const char* separator = "";
    for (const OrderedJson& value : row_json(row)) {
      text += separator + csv_field(value);
      separator = ",";
    }
    text += '\n';
  }
  return text;
}

std::string sweep_to_json_lines(std::span<const SweepRow> rows) {
  std::string text;
  for (const SweepRow& row : rows) text += files::to_line(row_json(row)) + '\n';
  return text;
}

}  // namespace stowage
