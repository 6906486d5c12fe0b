#include "stowage/report/page.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "files/interface/gzip.hpp"
#include "files/interface/json_writer.hpp"
#include "report/base64.hpp"
#include "report/page_data.hpp"
#include "report/page_plan.hpp"
#include "report/text.hpp"
#include "report/viewer.hpp"
#include "stowage/report/sweep.hpp"

namespace stowage {
namespace {

using namespace report;  // the module's own parts

constexpr std::size_t kTitleWidth = 120;

/// The last part of a path.
std::string file_name(const std::string& path) {
  const std::size_t cut = path.find_last_of('/');
  return cut == std::string::npos ? path : path.substr(cut + 1);
}

/// Escaped for the text of an HTML element; valid UTF-8.
std::string escaped(std::string_view text) {
  const std::string valid = nlohmann::json::parse(files::to_line(text)).get<std::string>();
  std::string result;
  for (const char c : clipped(valid, kTitleWidth)) {
    static constexpr std::array<std::pair<char, std::string_view>, 5> kNames = {
        {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};
    const auto name = std::find_if(kNames.begin(), kNames.end(), [&](const auto& each) { return each.first == c; });
    if (name == kNames.end()) {
      result += c;
    } else {
      result += name->second;
    }
  }
  return result;
}

/// What a page shows; `plans`, `diff`, `replay` and `sweep` are JSON.
struct Content {
  std::string title;
  std::string plans;
  std::string diff = "null";
  std::string replay = "null";
  std::string sweep = {};  ///< Empty: none, as in most pages.
};

Result<std::string> page_of(const Content& content) {
  std::string json = "{\"schema\":\"stowage.page/1\",\"title\":";
  append_string(json, content.title);
  json += ",\n\"plans\":[" + content.plans + "],\n\"diff\":" + content.diff + ",\n\"replay\":" + content.replay;
  if (!content.sweep.empty()) json += ",\n\"sweep\":" + content.sweep;
  json += "}\n";
  STOWAGE_TRY(const std::string packed, files::pack_gzip(json, files::GzipEffort::quick));
  const Viewer around = viewer();
  std::string page(around.head);
  page += escaped(content.title + " - stowage");
  page += around.middle;
  page += to_base64(packed);
  page += around.tail;
  return page;
}

Result<std::string> page_of(PlanData data, const PageOptions& options) {
  data.label = options.label;
  data.capacity = options.capacity;
  data.explanation = options.explanation;
  Content content{.title = options.label == "-" ? data.summary.name : file_name(options.label), .plans = {}};
  append_plan(content.plans, data);
  return page_of(content);
}

void append_side(std::string& text, const DiffSide& side, const PlanOptions& options) {
  PlanData data = side.planned ? planned_data(*side.planned) : foreign_data(side, options);
  data.label = side.label;
  append_plan(text, data);
}

/// The object BLOCKS of docs/page.md.
void append_blocks(std::string& text, const ReplayBlocks& blocks) {
  std::array<Column, 5> columns;
  for (const ReplayBlock& block : blocks.list) {
    columns[0].push_back(static_cast<std::int64_t>(block.first));
    columns[1].push_back(static_cast<std::int64_t>(block.end));
    columns[2].push_back(block.low.value());
    columns[3].push_back(block.size.value());
    columns[4].push_back(static_cast<std::int64_t>(block.stream.index()));
  }
  text += ",\n\"blocks\":{\"left_out\":" + std::to_string(blocks.left_out);
  constexpr std::array<std::string_view, 5> kNames{"first", "end", "low", "size", "stream"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    text += ",\n";
    append_column(text, kNames[i], columns[i]);
  }
  Column segments;
  for (const Bytes size : blocks.segments) segments.push_back(size.value());
  text += ",\n";
  append_column(text, "segments", segments);
  text += '}';
}

files::OrderedJson size_or_null(const std::optional<Bytes>& size) {
  return size ? files::OrderedJson(size->value()) : files::OrderedJson();
}

/// A row of SWEEP in docs/page.md.
std::string sweep_row_json(const SweepRow& row) {
  files::OrderedJson dims = files::OrderedJson::parse(row.dims, nullptr, false);
  if (!dims.is_object()) dims = files::OrderedJson::object();
  return files::to_line({{"input", row.input},
                         {"hash", row.hash},
                         {"dims", std::move(dims)},
                         {"options", row.options},
                         {"peak", size_or_null(row.peak)},
                         {"bound", size_or_null(row.bound)},
                         {"proven", row.proven.value_or(false)},
                         {"weights", size_or_null(row.weights)},
                         {"total", size_or_null(row.total)},
                         {"status", row.status},
                         {"error", row.error}});
}

}  // namespace

Result<std::string> plan_page(const PlanScene& scene, const PageOptions& page) {
  return page_of(planned_data(scene), page);
}

Result<std::string> table_page(const CsvProblem& table, std::span<const Position> positions, const Summary& summary,
                               const PageOptions& page) {
  return page_of(table_data(table, positions, summary), page);
}

Result<std::string> diff_page(const DiffSide& before, const DiffSide& after, const PlanOptions& options,
                              const PlanDiff& difference) {
  Content content{.title = fmt::format("{} \u2192 {}", file_name(before.label), file_name(after.label)), .plans = {}};
  append_side(content.plans, before, options);
  content.plans += ",\n";
  append_side(content.plans, after, options);
  content.diff = diff_to_json(difference);
  return page_of(content);
}

Result<std::string> replay_page(const std::string& trace, const ReplayReport& report) {
  Column at;
  Column requested;
  Column reserved;
  Column largest_idle;
  for (const ReplaySample& sample : report.samples) {
    at.push_back(static_cast<std::int64_t>(sample.event));
    requested.push_back(sample.requested.value());
    reserved.push_back(sample.reserved.value());
    largest_idle.push_back(sample.largest_idle.value());
  }
  Content content{.title = file_name(trace), .plans = {}};
  content.replay = "{\"trace\":";
  append_string(content.replay, trace);
  content.replay += ",\n\"report\":" + replay_to_json(report) + ",\"events\":" + std::to_string(report.events);
  for (const auto& [name, column] :
       {std::pair("at", &at), {"requested", &requested}, {"reserved", &reserved}, {"largest_idle", &largest_idle}}) {
    content.replay += ",\n";
    append_column(content.replay, name, *column);
  }
  append_blocks(content.replay, report.blocks);
  content.replay += '}';
  return page_of(content);
}

Result<std::string> sweep_page(const SweepPage& sweep) {
  files::OrderedJson fits = files::OrderedJson::array();
  for (const Bytes size : sweep.fits) fits.push_back(size.value());
  Content content{.title = sweep.title, .plans = {}};
  content.sweep = "{\"fits\":" + files::to_line(fits) + ",\n\"rows\":[";
  files::append_lines(content.sweep, sweep.rows, sweep_row_json);
  content.sweep += '}';
  return page_of(content);
}

}  // namespace stowage
