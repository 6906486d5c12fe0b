#include <algorithm>
#include <chrono>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "commands.hpp"
#include "common_options.hpp"
#include "input.hpp"
#include "output.hpp"
#include "recheck.hpp"
#include "stowage/report/export.hpp"
#include "stowage/verify.hpp"

namespace stowage::cli {
namespace {

struct VerifyArguments {
  std::string input;
  std::string plan;
  ImportOptions import;
  VerifyOptions options;
  bool recheck = false;
  std::chrono::nanoseconds time_limit = std::chrono::seconds(1);
  bool json = false;
};

/// What is known about a plan.
struct Checked {
  std::vector<Finding> findings;
  std::string other_graph = {};  ///< If the plan names another graph than INPUT: both names, in a sentence.
  std::vector<UncheckedClaim> unchecked = {};
  std::vector<RecheckedBound> rechecked = {};
};

/// The positions of a table's rows in a plan, and findings for rows that have none.
struct PlacedRows {
  std::vector<Position> positions;  ///< One per row, when there are no findings.
  std::vector<Finding> findings;
};

PlacedRows place_rows(const CsvProblem& table, const CsvProblem& plan) {
  std::unordered_map<std::string_view, std::size_t> rows;
  for (std::size_t i = 0; i < plan.ids.size(); ++i) rows.emplace(plan.ids[i], i);
  PlacedRows placed;
  for (const std::string& id : table.ids) {
    const auto row = rows.find(id);
    const std::optional<Bytes> offset = row == rows.end() ? std::nullopt : plan.problem.items[row->second].pinned;
    if (offset) placed.positions.push_back({0, *offset});
    if (!offset)
      placed.findings.push_back(
          {Rule::missing, fmt::format("id '{}' has no {}", id, row == rows.end() ? "row" : "offset")});
    if (row != rows.end()) rows.erase(row);
  }
  for (const std::string& id : plan.ids) {
    if (rows.contains(id)) placed.findings.push_back({Rule::reference, fmt::format("id '{}' is not in the input", id)});
  }
  return placed;
}

bool are_kept_apart(const Problem& problem, std::size_t item, std::size_t other) {
  const auto [a, b] = std::minmax(item, other);
  return std::any_of(problem.apart.begin(), problem.apart.end(),
                     [&](const ApartPair& pair) { return pair.a == a && pair.b == b; });
}

/// A violation as a finding that names rows of the table.
Finding finding_of(const Violation& wrong, const CsvProblem& table, const std::vector<Position>& positions) {
  const auto row = [&](std::size_t i) {
    const std::int64_t offset = positions[i].offset.value();
    return fmt::format("id '{}' [{}, {})", table.ids[i], offset, offset + table.problem.items[i].size.value());
  };
  const Item& item = table.problem.items[wrong.item];
  switch (wrong.kind) {
    case Violation::Kind::alignment:
      return {Rule::alignment, fmt::format("{} does not begin at a multiple of its alignment {}", row(wrong.item),
                                           item.alignment.value())};
    case Violation::Kind::pin:
      return {Rule::layout,
              fmt::format("{} is not where the input pins it, at {}", row(wrong.item), item.pinned->value())};
    case Violation::Kind::conflict:
      if (are_kept_apart(table.problem, wrong.item, wrong.other))
        return {Rule::apart, fmt::format("{} and {} share bytes, but the input keeps them apart", row(wrong.other),
                                         row(wrong.item))};
      return {Rule::overlap,
              fmt::format("{} and {} share bytes while both are live", row(wrong.other), row(wrong.item))};
    case Violation::Kind::count:
    case Violation::Kind::region:
    case Violation::Kind::offset:
      break;
  }
  return {Rule::bounds, fmt::format("{} is out of bounds", row(wrong.item))};
}

std::vector<Finding> verify_table(const CsvProblem& table, const std::string& text, const VerifyArguments& arguments) {
  const CsvProblem plan = or_fail(parse_csv(text, arguments.plan));
  auto [positions, findings] = place_rows(table, plan);
  if (findings.empty()) {
    if (const std::optional<Violation> wrong = validate(table.problem, positions))
      findings.push_back(finding_of(*wrong, table, positions));
  }
  const std::size_t count = std::min(findings.size(), arguments.options.max_findings);
  return {findings.begin(), findings.begin() + static_cast<std::ptrdiff_t>(count)};
}

Checked check_plan(const Graph& graph, const std::string& text, const VerifyArguments& arguments) {
  const std::shared_ptr<const PlanFile> file = or_fail(parse_plan_file(text, arguments.plan));
  Checked checked{verify(graph, *file, arguments.options)};
  if (graph_name(*file) != graph.name())
    checked.other_graph = fmt::format("{} is a plan for the graph '{}', but {} is '{}'", arguments.plan,
                                      printable(graph_name(*file)), arguments.input, printable(graph.name()));
  if (checked.findings.empty()) checked.unchecked = unchecked_claims(graph, *file, arguments.options);
  if (arguments.recheck)
    checked.rechecked = or_fail(recheck(graph, known_part(graph, *file), arguments.options, arguments.time_limit));
  return checked;
}

Checked check(const VerifyArguments& arguments) {
  const std::string bytes = or_fail(read_file(arguments.input));
  const std::string plan = or_fail(read_file(arguments.plan));
  if (is_tflite(arguments.plan, plan)) {
    if (arguments.recheck) end_with(kUsage, "--recheck is for plan files; a model with a plan claims no bound");
    return {
        or_fail(verify_tflite({bytes, arguments.input}, {plan, arguments.plan}, arguments.import, arguments.options))};
  }
  const Input input = or_fail(read_input(arguments.input, bytes, arguments.import));
  if (input.graph()) return check_plan(*input.graph(), plan, arguments);
  if (arguments.recheck) end_with(kUsage, "--recheck is for graphs; a table claims no bound");
  return {verify_table(*input.table(), plan, arguments)};
}

std::string as_text(const Checked& checked, const VerifyArguments& arguments) {
  const bool valid = checked.findings.empty();
  std::string text =
      fmt::format("{}: {}\n", arguments.plan, valid ? toned(Tone::good, "valid") : toned(Tone::bad, "invalid"));
  if (!valid && !checked.other_graph.empty()) text += fmt::format("  note: {}\n", checked.other_graph);
  for (const Finding& finding : checked.findings)
    text += fmt::format("  {}: {}\n", to_string(finding.rule), finding.message);
  for (const UncheckedClaim& claim : checked.unchecked) text += fmt::format("  note: {}\n", claim.message);
  return text + recheck_text(checked.rechecked);
}

std::string as_json(const Checked& checked, const VerifyArguments& arguments) {
  std::string text = findings_to_json(checked.findings, checked.unchecked);
  if (!arguments.recheck) return text;
  text.erase(text.rfind('}'));
  return text + ",\"recheck\":" + recheck_json(checked.rechecked) + "}\n";
}

}  // namespace

void add_verify_command(CLI::App& app) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App& command =
      *app.add_subcommand("verify", "Check that PLAN is safe for INPUT; if it is not, say why and exit with 3");
  command.add_option("INPUT", arguments->input, "The graph, model or table that was planned")->required();
  command
      .add_option(
          "PLAN", arguments->plan,
          "A plan (.json), a copy of a model with a plan (.tflite), or, for a table, a table with offsets (.csv)")
      ->required();
  command.add_flag("--keep-inputs", arguments->options.keep_inputs,
                   "Inputs must keep their bytes to the end of the run");
  add_import_options(command, arguments->import);
  add_base_option(command, arguments->options.base);
  add_padding_option(command, arguments->options.padding);
  add_region_limit_option(command, arguments->options.region_limit);
  add_batch_start_option(command, arguments->options.batch_start);
  command.add_option("--max-findings", arguments->options.max_findings, "Stop after this many findings")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->capture_default_str();
  command.add_flag_callback(
      "--no-program", [arguments] { arguments->options.program = false; },
      "Do not judge the program of PLAN: what a run does, and what waits for what");
  CLI::Option* const recheck = command.add_flag(
      "--recheck", arguments->recheck,
      "Plan INPUT again, and say whether PLAN's bounds are confirmed or refuted (exit code 3) by that");
  add_time_option(command, "--time-limit", arguments->time_limit, "Time limit of --recheck")
      ->default_str("1s")
      ->needs(recheck);
  command.add_flag("--json", arguments->json, "Print the findings as JSON (stowage.findings/1)");
  command.footer(
      "Example: stowage verify model.json plan.json\n"
      "         stowage verify model.tflite planned.tflite\n"
      "         stowage verify model.json plan.json --recheck --time-limit 10s\n"
      "         stowage verify training_step.json plan.json --base refreshable --region-limit 400MiB");
  command.callback([arguments] {
    const Checked checked = check(*arguments);
    arguments->json ? print_data(as_json(checked, *arguments)) : print(as_text(checked, *arguments));
    const bool refuted = verdict_of(checked.rechecked) == Recheck::refuted;
    if (!checked.findings.empty() || refuted) end_with(kPlanInvalid);
  });
}

}  // namespace stowage::cli
