#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common_options.hpp"
#include "input.hpp"
#include "output.hpp"
#include "problem_plan.hpp"
#include "progress.hpp"

namespace stowage::cli {
namespace {

struct CompareArguments {
  std::string input;
  ImportOptions import;
  bool json = false;
  PlanOptions options;
};

Summary run_solver(const Input& input, const CompareArguments& arguments, const SolverInfo& solver) {
  PlanOptions options = arguments.options;
  options.solver = solver.name;
  if (!solver.searches) options.time_limit.reset();  // always runs to completion
  const Progress progress(fmt::format("{}: {}", arguments.input, solver.name));
  if (const Graph* const graph = input.graph()) return summarize(or_fail_in(arguments.input, plan(*graph, options)));
  return or_fail(plan_problem(*input.table(), arguments.input, options)).summary;
}

/// Whether there is a peak to show.
bool answered(const Summary& summary) { return summary.status == "optimal" || summary.status == "feasible"; }

double ratio(const Summary& summary) {
  if (summary.lower_bound == Bytes(0)) return 1;
  return static_cast<double>(summary.peak.value()) / static_cast<double>(summary.lower_bound.value());
}

struct Line {
  std::string_view solver;
  Summary summary;
};

std::string as_json(const std::vector<Line>& lines) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [solver, summary] : lines) {
    nlohmann::ordered_json entry = {{"name", solver}, {"status", summary.status}};
    entry["peak_bytes"] = answered(summary) ? nlohmann::ordered_json(summary.peak.value()) : nlohmann::ordered_json();
    entry["peak_to_bound"] = answered(summary) ? nlohmann::ordered_json(ratio(summary)) : nlohmann::ordered_json();
    entry["solve_ms"] = summary.solve_ms;
    list.push_back(std::move(entry));
  }
  const Summary& any = lines.front().summary;
  const nlohmann::ordered_json document = {{"schema", "stowage.compare/1"},
                                           {"name", any.name},
                                           {"items", any.items},
                                           {"lower_bound_bytes", any.lower_bound.value()},
                                           {"naive_bytes", any.naive.value()},
                                           {"solvers", list}};
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string as_text(const std::vector<Line>& lines) {
  const Summary& any = lines.front().summary;
  std::string text = fmt::format("{}: {}\n", toned(Tone::strong, any.name), counted(any.items, "item"));
  text += fmt::format("  {:<20} {:>14} {:>10} {:>12}\n", "solver", "peak", "/ bound", "ms");
  for (const auto& [solver, summary] : lines) {
    if (!answered(summary)) {
      text += fmt::format("  {:<20} {:>14}\n", solver, summary.status);
      continue;
    }
    const std::string figure = fmt::format("{:>10.4f}", ratio(summary));
    text += fmt::format("  {:<20} {:>14} {} {:>12.3f}\n", solver, size_text(summary.peak),
                        toned(summary.proven_optimal ? Tone::good : Tone::plain, figure), summary.solve_ms);
  }
  text += fmt::format("  {:<20} {:>14}\n", "lower bound", size_text(any.lower_bound));
  return text + fmt::format("  {:<20} {:>14}\n", "without any reuse", size_text(any.naive));
}

}  // namespace

void add_compare_command(CLI::App& app) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App& command = *app.add_subcommand("compare", "Plan INPUT with every solver, side by side");
  command.add_option("INPUT", arguments->input, input_help(Inputs::all))->required();
  add_import_options(command, arguments->import);
  add_planning_options(command, arguments->options);
  command.add_flag("--json", arguments->json, "Print the table as JSON (stowage.compare/1)");
  command.footer("Example: stowage compare model.json.gz");
  command.callback([arguments] {
    const Input input = or_fail(read_input(arguments->input, arguments->import));
    if (input.table()) refuse_graph_options(arguments->options);
    std::vector<Line> lines;
    for (const SolverInfo& solver : solvers()) lines.push_back({solver.name, run_solver(input, *arguments, solver)});
    arguments->json ? print_data(as_json(lines)) : print(as_text(lines));
  });
}

}  // namespace stowage::cli
