#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common_options.hpp"
#include "growth_limit.hpp"
#include "input.hpp"
#include "output.hpp"
#include "outputs.hpp"
#include "pages.hpp"
#include "progress.hpp"
#include "reuse_options.hpp"
#include "stowage/report.hpp"

namespace stowage::cli {
namespace {

struct DiffArguments {
  std::string before;
  std::string after;
  std::string graph_before;  ///< The graph that names the tensors of a plan file.
  std::string graph_after;
  std::string page;
  ImportOptions import;
  std::optional<GrowthLimit> limit;
  std::size_t top = 10;
  bool json = false;
  PlanOptions options;
};

/// One of the two plans: made here, or read from a file, with its graph if that is known.
struct Side {
  std::optional<Graph> graph = {};
  std::optional<Planned> planned = {};        ///< With an answer.
  std::shared_ptr<const PlanFile> file = {};  ///< Otherwise.
  const Graph* names = nullptr;               ///< For a file: the graph whose ids `plan` uses.
  std::optional<Plan> plan = {};

  [[nodiscard]] DiffSide shown(const std::string& label) const {
    if (planned) return {*planned, label};
    return plan ? DiffSide(*names, *plan, label) : DiffSide(*file, label);
  }
};

/// Reads only the top level of the document.
bool is_plan(const std::string& text) {
  const auto top_only = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth < 2; };
  const nlohmann::json top = nlohmann::json::parse(text, top_only, false);
  if (!top.is_object()) return false;
  const auto schema = top.find("schema");
  return schema != top.end() && schema->is_string() && schema->get<std::string>().starts_with("stowage.plan/");
}

Graph read_graph(const std::string& path, std::string_view bytes, const ImportOptions& options) {
  Input input = or_fail(read_input(path, bytes, options));
  if (input.table()) end_with(kUsage, fmt::format("{}: diff compares graphs and their plans, not tables", path));
  return std::get<Graph>(std::move(input.content));
}

Side read_side(const std::string& path, const std::string& graph, const DiffArguments& arguments) {
  const std::string text = or_fail(read_file(path));
  if (is_plan(text)) {
    Side side{.file = or_fail(parse_plan_file(text, path))};
    if (!graph.empty()) side.graph = read_graph(graph, or_fail(read_file(graph)), arguments.import);
    return side;
  }
  Side side{.graph = read_graph(path, text, arguments.import)};
  const Progress progress(fmt::format("planning {}", path));
  side.planned = or_fail_in(path, plan(*side.graph, arguments.options));
  if (!side.planned->has_answer()) end_with(kOutOfTime, fmt::format("{}: no plan was found in the time given", path));
  return side;
}

/// A plan file gets the names of its graph, or of the graph on the other side if that has the same name. It has no
/// names if that graph lacks a tensor or op that the file refers to.
void find_names(Side& side, const Side& other) {
  if (!side.file) return;
  const bool same = other.graph && other.graph->name() == graph_name(*side.file);
  side.names = side.graph ? &*side.graph : same ? &*other.graph : nullptr;
  if (!side.names) return;
  if (Result<Plan> plan = plan_for(*side.names, *side.file)) side.plan = std::move(*plan);
}

void compare(const DiffArguments& arguments) {
  check_outputs({{"--html", arguments.page}},
                {arguments.before, arguments.after, arguments.graph_before, arguments.graph_after});
  Side before = read_side(arguments.before, arguments.graph_before, arguments);
  Side after = read_side(arguments.after, arguments.graph_after, arguments);
  find_names(before, after);
  find_names(after, before);
  const DiffSide a = before.shown(arguments.before);
  const DiffSide b = after.shown(arguments.after);
  const PlanDiff difference = diff(a, b);
  if (arguments.page != "-")
    arguments.json ? print_data(diff_to_json(difference))
                   : print(diff_to_text(difference, size_style(), arguments.top));
  if (!arguments.page.empty()) write_page(arguments.page, diff_page(a, b, arguments.options, difference));
  if (arguments.limit && arguments.limit->exceeded(difference.peak_before, difference.peak_after)) {
    end_with(kGrew, fmt::format("the peak grew from {} to {} bytes, by more than {}", difference.peak_before.value(),
                                difference.peak_after.value(), arguments.limit->text));
  }
}

}  // namespace

void add_diff_command(CLI::App& app) {
  auto arguments = std::make_shared<DiffArguments>();
  CLI::App& command = *app.add_subcommand("diff", "Show what grew, moved, appeared and disappeared between A and B");
  command
      .add_option("A", arguments->before,
                  "Before: a graph or model, which is planned first, or a plan (.json); also .gz")
      ->required();
  command.add_option("B", arguments->after, "After: the same")->required();
  add_growth_option(command, arguments->limit, "Exit with 6 when the peak grew by more than this");
  command.add_option("--graph-a", arguments->graph_before, "If A is a plan: its graph, which has the tensor names")
      ->type_name("FILE");
  command.add_option("--graph-b", arguments->graph_after, "If B is a plan: its graph, which has the tensor names")
      ->type_name("FILE");
  add_html_option(command, arguments->page, "Write a self-contained page that shows both plans in a browser");
  command.add_option("--top", arguments->top, "List this many of each kind of change")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  add_import_options(command, arguments->import);
  add_solving_options(command, arguments->options);
  add_planning_options(command, arguments->options);
  add_reuse_options(command, arguments->options);
  command.add_flag("--json", arguments->json, "Print everything as JSON (stowage.diff/1)");
  command.footer(
      "Example: stowage diff old.json new.json --fail-if-grows 2% --html diff.html\n"
      "         stowage diff old.plan.json new.plan.json --graph-a old.json --graph-b new.json");
  command.callback([arguments] { compare(*arguments); });
}

}  // namespace stowage::cli
