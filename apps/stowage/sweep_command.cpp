#include <algorithm>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "commands.hpp"
#include "common_options.hpp"
#include "growth_limit.hpp"
#include "input.hpp"
#include "output.hpp"
#include "outputs.hpp"
#include "pages.hpp"
#include "reuse_options.hpp"
#include "stowage/base/printable.hpp"
#include "sweep_baseline.hpp"
#include "sweep_run.hpp"

namespace stowage::cli {
namespace {

struct SweepArguments {
  SweepTask task;
  std::string output;
  std::string page;
  std::string baseline;
  std::optional<GrowthLimit> limit;
  std::vector<Bytes> fits;
  bool strict = false;
};

bool is_failed(const SweepRow& row) { return !row.error.empty(); }

/// Whether the row fits a memory: yes, no (proven), or nobody knows; three columns wide.
std::string fit_of(const SweepRow& row, Bytes size) {
  if (row.peak && *row.peak <= size) return toned(Tone::good, "yes");
  if (row.bound && *row.bound > size) return toned(Tone::bad, "no") + " ";
  return "?  ";
}

/// "batch=4 seq=128", of canonical JSON.
std::string dims_text(const std::string& dims) {
  std::string text;
  for (const char c : dims.substr(1, dims.size() - 2)) {
    if (c != '"') text += c == ':' ? '=' : c == ',' ? ' ' : c;
  }
  return text;
}

std::string verdict_of(const SweepRow& row) {
  if (!row.peak) return row.status == "infeasible" ? "does not fit (proven)" : "no answer in time";
  if (*row.proven) return toned(Tone::good, "smallest possible (proven)");
  return fmt::format("bound {}", size_text(*row.bound));
}

/// What is before the figures: the input and the dims.
struct RowLabels {
  std::size_t input = 5;
  std::size_t dims = 0;
};

std::string row_line(const SweepRow& row, const RowLabels& widths, const std::vector<Bytes>& fits) {
  std::string line = fmt::format("{:<{}}  {:<{}}", row.input, widths.input, dims_text(row.dims), widths.dims);
  if (is_failed(row)) return fmt::format("{}  {}\n", line, toned(Tone::bad, row.error));
  line += fmt::format("{:>16}", row.peak ? size_text(*row.peak) : "-");
  for (const Bytes size : fits) line += fmt::format("  {} {}", to_human(size), fit_of(row, size));
  return fmt::format("{}  {}\n", line, verdict_of(row));
}

std::string sweep_text(const std::vector<SweepRow>& rows, const std::vector<Bytes>& fits) {
  RowLabels widths;
  for (const SweepRow& row : rows) {
    widths.input = std::max(widths.input, row.input.size());
    widths.dims = std::max(widths.dims, dims_text(row.dims).size());
  }
  std::string text;
  for (const SweepRow& row : rows) text += row_line(row, widths, fits);
  return text;
}

/// Ends the command if the dims have more combinations than anyone can mean.
void check_rows(const SweepTask& task) {
  static constexpr std::size_t kMostRows = 1'000'000;
  std::size_t rows = task.inputs.size();
  for (const DimValues& dim : task.dims) {
    rows *= dim.values.size();
    if (rows > kMostRows) end_with(kUsage, fmt::format("these would be more than {} rows", kMostRows));
  }
}

/// Ends the command if the output cannot have the format that its name implies.
void check_table(const SweepArguments& arguments) {
  const auto is_parquet = [](const std::string& path) { return has_extension(path, ".parquet"); };
  if (is_parquet(arguments.output))
    end_with(kUsage, fmt::format("'{}': the Python package writes Parquet: python -m stowagepy sweep … --out {}",
                                 arguments.output, arguments.output));
  check_suffix({"--out", arguments.output}, {{".csv", "a table"}, {".jsonl", "a JSON object per line"}});
}

void write_table(const std::string& path, const std::vector<SweepRow>& rows) {
  if (path.empty()) return;
  or_fail(write_file(path, has_extension(path, ".jsonl") ? sweep_to_json_lines(rows) : sweep_to_csv(rows)));
}

std::string page_title(const SweepArguments& arguments) {
  const std::size_t inputs = arguments.task.inputs.size();
  return inputs == 1 ? arguments.task.inputs.front() : fmt::format("sweep of {}", counted(inputs, "input"));
}

std::vector<SweepRow> read_baseline(const std::string& path) {
  if (path.empty()) return {};
  return or_fail(parse_sweep(or_fail(read_file(path)), path));
}

/// What changed since the baseline. Ends the command if that is too much, or if the two have nothing in common.
void judge_growth(const SweepArguments& arguments, const std::vector<SweepRow>& before,
                  const std::vector<SweepRow>& rows, bool quiet) {
  if (arguments.baseline.empty()) return;
  const SweepChanges changes = compare_sweeps(before, rows);
  if (!rows.empty() && changes.added == rows.size())
    end_with(kError, fmt::format("{}: no row has the inputs, dims and options of this sweep", arguments.baseline));
  if (!quiet) print(fmt::format("since {}:\n{}", arguments.baseline, changes_text(changes)));
  if (!arguments.limit) return;
  const std::string beyond = beyond_limit(changes, *arguments.limit);
  if (!beyond.empty()) end_with(kGrew, fmt::format("grew by more than {}:{}", arguments.limit->text, beyond));
}

/// Ends the command if everything failed, or anything of a strict sweep.
void judge_failures(const SweepArguments& arguments, const std::vector<SweepRow>& rows) {
  const auto failed = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_failed));
  if (failed == 0) return;
  const SweepRow& first = *std::find_if(rows.begin(), rows.end(), is_failed);
  const std::string message =
      fmt::format("{} of {} failed; the first: {}", failed, counted(rows.size(), "row"), first.error);
  if (arguments.strict || failed == rows.size()) end_with(kError, message);
  fmt::print(stderr, "stowage: {}\n", printable_lines(message));
}

void sweep(const SweepArguments& arguments) {
  std::vector<std::string> inputs = arguments.task.inputs;
  if (std::count(inputs.begin(), inputs.end(), "-") > 1) end_with(kUsage, "standard input can be read only once");
  inputs.push_back(arguments.baseline);
  check_rows(arguments.task);
  check_table(arguments);
  check_outputs({{"--out", arguments.output}, {"--html", arguments.page}}, inputs);
  const std::vector<SweepRow> before = read_baseline(arguments.baseline);
  const auto [rows, stopped] = run_sweep(arguments.task);
  const bool quiet = arguments.output == "-" || arguments.page == "-";
  write_table(arguments.output, rows);
  if (!arguments.page.empty())
    write_page(arguments.page, sweep_page({.title = page_title(arguments), .rows = rows, .fits = arguments.fits}));
  if (!quiet) print(sweep_text(rows, arguments.fits));
  if (stopped) end_with(kInterrupted, fmt::format("stopped: {} ready", counted(rows.size(), "row")));
  judge_failures(arguments, rows);
  judge_growth(arguments, before, rows, quiet);
}

void add_fits_option(CLI::App& command, std::vector<Bytes>& fits) {
  const auto read = [&fits](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const std::optional<Bytes> size = parse_bytes(text);
      if (!size) throw CLI::ValidationError("'" + text + "' is not a size such as 4096, 64KiB or 1.5GiB");
      fits.push_back(*size);
    }
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--fits", read, "Sizes of memories: say of every row which of them its peak fits; may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("SIZE,…");
}

void add_comparison_options(CLI::App& command, SweepArguments& arguments) {
  CLI::Option* const baseline = command
                                    .add_option("--baseline", arguments.baseline,
                                                "An earlier table (.csv, .jsonl): say which peaks changed, row by row")
                                    ->type_name("FILE");
  add_growth_option(command, arguments.limit,
                    "Exit with 6 when a row's peak grew by more than this since the baseline, or is no longer there")
      ->needs(baseline);
  command.add_flag("--strict", arguments.strict, "Exit with 1 when any row has an error, not only when all have");
}

}  // namespace

void add_sweep_command(CLI::App& app) {
  auto arguments = std::make_shared<SweepArguments>();
  SweepTask& task = arguments->task;
  task.options.time_limit.reset();  // so that the table is the same everywhere
  task.jobs = std::max(1U, std::thread::hardware_concurrency());
  CLI::App& command = *app.add_subcommand("sweep", "Plan many inputs at many sizes: a table, curves, what fits where");
  command.add_option("INPUTS", task.inputs, "Each: " + input_help(Inputs::all))->required();
  command
      .add_option(
          "-o,--out", arguments->output,
          "Write the table as .csv, or as .jsonl; - is standard output, as CSV (Parquet: python -m stowagepy sweep)")
      ->type_name("FILE");
  add_html_option(command, arguments->page, "Write a self-contained page: peak against each dim, and what fits where");
  add_fits_option(command, arguments->fits);
  add_comparison_options(command, *arguments);
  command.add_option("--jobs", task.jobs, "How many rows to plan at a time (default: one per processor)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  add_size_option(command, "--capacity", task.options.capacity,
                  "The most bytes that the peak may have in each memory; a row says whether it fits");
  add_size_option(command, "--capacity-total", task.options.capacity_total,
                  "The same for the peak and the weights together");
  add_import_options(command, task.import, task.dims);
  add_solving_options(command, task.options);
  add_planning_options(command, task.options);
  add_reuse_options(command, task.options);
  command.footer(
      "Example: stowage sweep model.onnx --dim batch=1,2,4,8 --out table.csv --html sweep.html\n"
      "         stowage sweep models/*.onnx --dim batch=1,2,4 --fits 1MiB,6MiB\n"
      "         stowage sweep models/*.onnx --out new.csv --baseline old.csv --fail-if-grows 2%");
  command.callback([arguments] { sweep(*arguments); });
}

}  // namespace stowage::cli
