#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "commands.hpp"
#include "input.hpp"
#include "output.hpp"
#include "stowage/verify.hpp"

namespace stowage::cli {
namespace {

struct VerifyArguments {
  std::string input;
  std::string plan;
  VerifyOptions options;
  bool json = false;
};

/// The positions that `plan` gives the rows of `table`, matched by id.
Result<std::vector<Position>> positions_from(const CsvProblem& table, const CsvProblem& plan, const std::string& file) {
  std::unordered_map<std::string_view, std::size_t> rows;
  for (std::size_t i = 0; i < plan.ids.size(); ++i) rows.emplace(plan.ids[i], i);
  const auto fault = [&](const std::string& what) { return Error{ErrorCode::invalid, what, {.file = file, .line = {}, .path = {}}}; };
  if (plan.ids.size() != table.ids.size()) return fault(fmt::format("has {} rows, the input {}", plan.ids.size(), table.ids.size()));
  std::vector<Position> positions;
  for (const std::string& id : table.ids) {
    const auto row = rows.find(id);
    if (row == rows.end()) return fault(fmt::format("has no row for '{}'", id));
    const std::optional<Bytes> offset = plan.problem.items[row->second].pinned;
    if (!offset) return fault(fmt::format("has no offset for '{}'", id));
    positions.push_back({0, *offset});
  }
  return positions;
}

std::vector<Finding> verify_table(const CsvProblem& table, const VerifyArguments& arguments) {
  const CsvProblem plan = or_fail(parse_csv(or_fail(read_file(arguments.plan)), arguments.plan));
  const std::vector<Position> positions = or_fail(positions_from(table, plan, arguments.plan));
  if (const std::optional<std::string> wrong = validate(table.problem, positions)) return {{Rule::overlap, *wrong}};
  return {};
}

std::vector<Finding> findings_of(const VerifyArguments& arguments) {
  const Input input = or_fail(read_input(arguments.input));
  if (const auto* table = std::get_if<CsvProblem>(&input)) return verify_table(*table, arguments);
  const Plan plan = or_fail(parse_plan(or_fail(read_file(arguments.plan)), arguments.plan));
  return verify(std::get<Graph>(input), plan, arguments.options);
}

std::string as_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) list.push_back({{"rule", to_string(finding.rule)}, {"message", finding.message}});
  const nlohmann::ordered_json document = {{"schema", "stowage.findings/1"}, {"valid", findings.empty()}, {"findings", list}};
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string as_text(const std::vector<Finding>& findings, const VerifyArguments& arguments) {
  if (findings.empty()) return fmt::format("{}: {}\n", arguments.plan, toned(Tone::good, "valid"));
  std::string text = fmt::format("{}: {}\n", arguments.plan, toned(Tone::bad, "invalid"));
  for (const Finding& finding : findings) text += fmt::format("  {}: {}\n", to_string(finding.rule), finding.message);
  return text;
}

}  // namespace

void add_verify_command(CLI::App& app) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App& command = *app.add_subcommand("verify", "Check that PLAN is safe for INPUT; exits with 3 and says why when it is not");
  command.add_option("INPUT", arguments->input, "The graph or table that was planned")->required();
  command.add_option("PLAN", arguments->plan, "A plan (.json), or for a table a table with offsets (.csv)")->required();
  command.add_flag("--keep-inputs", arguments->options.keep_inputs, "Inputs must keep their bytes to the end of the run");
  command.add_option("--max-findings", arguments->options.max_findings, "Stop after so many")->type_name("N")->capture_default_str();
  command.add_flag("--json", arguments->json, "Print the findings as JSON (stowage.findings/1)");
  command.footer("Example: stowage verify model.json plan.json");
  command.callback([arguments] {
    const std::vector<Finding> findings = findings_of(*arguments);
    print(arguments->json ? as_json(findings) : as_text(findings, *arguments));
    if (!findings.empty()) end_with(kPlanInvalid);
  });
}

}  // namespace stowage::cli
