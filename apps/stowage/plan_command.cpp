#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "input.hpp"
#include "output.hpp"
#include "plan_text.hpp"
#include "problem_plan.hpp"
#include "progress.hpp"
#include "reuse_options.hpp"
#include "values.hpp"

namespace stowage::cli {
namespace {

struct PlanArguments {
  std::string input;
  std::string output;
  std::string previous;
  bool keep_offsets = false;
  std::optional<Bytes> alignment;
  bool json = false;
  PlanOptions options;
};

/// `details` is for people.
void show(const PlanArguments& arguments, const Summary& summary, const std::string& details = {}) {
  // A plan that goes to standard output must not be followed by anything else.
  if (arguments.output == "-") return;
  print(arguments.json ? summary_to_json(summary) : summary_text(summary) + details);
}

/// Ends the command when there is no answer within the capacity.
void check_answer(const PlanArguments& arguments, SolveStatus status, Bytes peak, Bytes lower_bound) {
  const auto capacity = [&] {
    return arguments.options.capacity ? to_human(*arguments.options.capacity) : std::string("the memory");
  };
  if (status == SolveStatus::infeasible) {
    end_with(kDoesNotFit, fmt::format("{}: does not fit: at least {} are needed, {} are there", arguments.input,
                                      to_human(lower_bound), capacity()));
  }
  if (status == SolveStatus::timed_out) {
    const std::string best = peak > Bytes(0) ? fmt::format("; the best plan so far needs {}", to_human(peak)) : std::string();
    end_with(kOutOfTime, fmt::format("{}: no plan for {} was found in the time given, nor a proof that there is none{}",
                                     arguments.input, capacity(), best));
  }
}

PlanOptions options_of(const PlanArguments& arguments) {
  PlanOptions options = arguments.options;
  if (arguments.previous.empty()) return options;
  const std::string text = or_fail(read_file(arguments.previous));
  options.previous = PreviousPlan{.plan = or_fail(parse_plan(text, arguments.previous)), .keep_all = arguments.keep_offsets};
  return options;
}

void plan_graph(const PlanArguments& arguments, const Graph& graph) {
  const PlanOptions options = options_of(arguments);
  Planned planned = [&] {
    const Progress progress(fmt::format("planning {}", arguments.input));
    return or_fail(plan(graph, options));
  }();
  const Summary summary = summarize(graph, planned);
  if (planned.has_answer() && !arguments.output.empty()) or_fail(write_file(arguments.output, plan_to_json(*planned.plan)));
  if (planned.has_answer() || arguments.json)
    show(arguments, summary, planned.plan ? plan_text(graph, *planned.plan) : std::string());
  check_answer(arguments, planned.status, summary.peak, summary.lower_bound);
}

void plan_table(const PlanArguments& arguments, const CsvProblem& table) {
  if (!arguments.previous.empty()) end_with(kUsage, "--previous is for graphs; rows of a table stay where their offset says");
  refuse_graph_options(arguments.options);
  if (!arguments.output.empty() && arguments.output != "-" && !has_extension(arguments.output, ".csv")) {
    end_with(kUsage, fmt::format("the plan of a table is a table: '{}' does not end in .csv or .csv.gz", arguments.output));
  }
  const PlannedProblem planned = [&] {
    const Progress progress(fmt::format("packing {}", arguments.input));
    return or_fail(plan_problem(table, arguments.input, arguments.options));
  }();
  if (planned.outcome.has_answer() && !arguments.output.empty()) {
    or_fail(write_file(arguments.output, csv_with_offsets(table, planned.outcome.positions)));
  }
  if (planned.outcome.has_answer() || arguments.json) show(arguments, planned.summary);
  check_answer(arguments, planned.outcome.status, planned.outcome.peak, planned.outcome.bound.bytes);
}

}  // namespace

void add_plan_command(CLI::App& app) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App& command = *app.add_subcommand("plan", "Plan the memory of INPUT and say how good the plan is");
  command.add_option("INPUT", arguments->input, "A graph (.json) or a table (.csv), also .gz; - is standard input")->required();
  command
      .add_option("-o,--output", arguments->output, "Write the plan (for a table: the table with offsets); - is standard output")
      ->type_name("FILE");
  add_size_option(command, "--capacity", arguments->options.capacity,
                  "Exit with 4 when this is proven to be too little, with 5 when that stays unknown");
  CLI::Option* const previous =
      command
          .add_option("--previous", arguments->previous,
                      "A plan of an earlier version of the graph: what can stay where it was stays there")
          ->type_name("PLAN");
  command.add_flag("--keep-offsets", arguments->keep_offsets, "Whatever has a place in the previous plan must keep it")
      ->needs(previous);
  add_alignment_option(command, arguments->alignment);
  add_solving_options(command, arguments->options);
  add_planning_options(command, arguments->options);
  add_reuse_options(command, arguments->options);
  command.add_flag("--json", arguments->json, "Print the figures as JSON (stowage.summary/1)");
  command.footer(
      "Example: stowage plan model.json -o plan.json --capacity 64MiB\n"
      "         stowage plan training_step.json --base refreshable --zero-fill separate --region-limit 400MiB\n"
      "         stowage plan model.json --fuse-inputs 4KiB --no-reuse-names logits,kv_update");
  command.callback([arguments] {
    const Input input = or_fail(read_input(arguments->input, arguments->alignment));
    if (const auto* graph = std::get_if<Graph>(&input)) {
      plan_graph(*arguments, *graph);
    } else {
      plan_table(*arguments, std::get<CsvProblem>(input));
    }
  });
}

}  // namespace stowage::cli
