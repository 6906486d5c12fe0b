#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "common_options.hpp"
#include "input.hpp"
#include "output.hpp"
#include "outputs.hpp"
#include "pages.hpp"
#include "progress.hpp"
#include "reuse_options.hpp"
#include "stowage/report.hpp"

namespace stowage::cli {
namespace {

struct ExplainArguments {
  std::string input;
  std::string page;
  ImportOptions import;
  bool json = false;
  ExplainOptions options;
};

/// Also writes the page, if one is asked for.
Explanation explain_graph(const ExplainArguments& arguments, const Graph& graph) {
  if (arguments.page.empty())
    return or_fail_in(arguments.input, explain_with_progress(arguments.input, graph, arguments.options));
  const ExplainOptions& options = arguments.options;
  const Planned planned = [&] {
    const Progress progress(fmt::format("planning {}", arguments.input));
    return or_fail_in(arguments.input, plan(graph, options.plan));
  }();
  if (!planned.has_answer())
    or_fail_in(arguments.input, Result<Done>(Error{ErrorCode::unsupported, "no plan was found in the time given", {}}));
  const PlanScene scene(planned);
  Explanation explanation = explain_with_progress(arguments.input, scene, options);
  write_page(arguments.page, plan_page(scene, {arguments.input, options.budget, &explanation}));
  return explanation;
}

void add_explaining_options(CLI::App& command, ExplainArguments& arguments) {
  ExplainOptions& options = arguments.options;
  const auto read_share = [&options](const std::string& text) {
    const std::optional<double> share = parse_percentage(text);
    if (!share || *share > 1) throw CLI::ValidationError("'" + text + "' is not a percentage from 0% to 100%");
    options.within = *share;
  };
  command
      .add_option_function<std::string>("--within", read_share,
                                        "A step binds when its live bytes are within this share of the most")
      ->type_name("N%")
      ->default_str("1%");
  command.add_option("--top", options.top, "How many holders, families of holders and peaks to analyse in detail")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  add_size_option(
      command, "--capacity,--budget", options.budget,
      "Say what to change so that the peak, without weights and the caller's buffers, is at most this in each memory");
  add_size_option(command, "--capacity-total", options.budget_total,
                  "Say what to change so that the peak and the weights together are at most this in each memory");
  add_time_option(command, "--total-time", options.time_limit,
                  "Time limit of all re-plans together; --time-limit is for each plan")
      ->default_str("20s");
}

}  // namespace

void add_explain_command(CLI::App& app) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App& command = *app.add_subcommand("explain", "Say why INPUT needs so much memory, and what would lower it");
  command.add_option("INPUT", arguments->input, input_help(Inputs::graphs))->required();
  add_explaining_options(command, *arguments);
  add_html_option(command, arguments->page, "Write a self-contained page that shows it in a browser");
  add_import_options(command, arguments->import);
  add_solving_options(command, arguments->options.plan);
  add_planning_options(command, arguments->options.plan);
  add_reuse_options(command, arguments->options.plan);
  command.add_flag("--json", arguments->json, "Print everything as JSON (stowage.explain/1)");
  command.footer(
      "Example: stowage explain model.onnx --capacity 64MiB\n"
      "         stowage explain model.onnx --html why.html");
  command.callback([arguments] {
    check_outputs({{"--html", arguments->page}}, {arguments->input});
    const Input input = or_fail(read_input(arguments->input, arguments->import));
    const Graph* const graph = input.graph();
    if (!graph)
      end_with(kUsage,
               fmt::format("{}: a table has no ops or tensors to explain; explain takes a graph", arguments->input));
    const Explanation explanation = explain_graph(*arguments, *graph);
    if (arguments->page == "-") return;
    arguments->json ? print_data(explanation_to_json(explanation))
                    : print(explanation_to_text(explanation, size_style()));
  });
}

}  // namespace stowage::cli
