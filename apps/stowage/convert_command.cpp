#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "common_options.hpp"
#include "input.hpp"
#include "output.hpp"
#include "outputs.hpp"

namespace stowage::cli {
namespace {

struct ConvertArguments {
  std::string input;
  std::string output;
  std::string memory;
  ImportOptions import;
  PlanOptions options;
};

Error fault(const ConvertArguments& arguments, std::string message) {
  return Error{ErrorCode::unsupported, std::move(message), {.file = arguments.input, .line = {}, .path = {}}};
}

/// A name that a CSV field can hold, made unique by the id.
std::string row_id(std::string name, const std::string& suffix) {
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return c <= ' ' || c == ',' || c == '"'; }, '_');
  return name + suffix;
}

std::vector<std::string> row_ids(const Graph& graph, const SharedProblem& shared) {
  std::vector<std::string> ids;
  for (const ItemOwner& owner : shared.owners) {
    if (const auto* tensor = std::get_if<TensorId>(&owner)) {
      ids.push_back(row_id(graph.tensor(*tensor).name, fmt::format("#{}", tensor->index())));
    } else {
      const auto [op, index] = std::get<WorkspaceId>(owner);
      ids.push_back(row_id(graph.op(op).name, fmt::format("#op{}.{}", op.index(), index)));
    }
  }
  return ids;
}

Result<std::string> graph_to_csv(const Graph& graph, const ConvertArguments& arguments) {
  PlanOptions options;
  options.in_place = arguments.options.in_place;
  options.keep_inputs = arguments.options.keep_inputs;
  options.no_reuse = arguments.options.no_reuse;
  options.padding = arguments.options.padding;
  const std::vector<SharedProblem> problems = shared_problems(graph, options);
  const SharedProblem* chosen = nullptr;
  for (const SharedProblem& shared : problems) {
    if (!arguments.memory.empty() && graph.memory(shared.memory).name != arguments.memory) continue;
    if (chosen)
      return fault(arguments, "tensors live in several memories, but a table has one: choose it with --memory NAME");
    chosen = &shared;
  }
  if (!chosen) return fault(arguments, "no tensor needs that memory: there is nothing to write");
  Result<std::string> text = problem_to_csv(chosen->problem, row_ids(graph, *chosen));
  if (!text) return fault(arguments, text.error().message);
  return text;
}

Result<std::string> converted(const Input& input, const ConvertArguments& arguments) {
  const bool to_csv = has_extension(arguments.output, ".csv");
  if (const Graph* const graph = input.graph())
    return to_csv ? graph_to_csv(*graph, arguments) : Result<std::string>(graph_to_json(*graph));
  if (has_extension(arguments.output, ".json")) return fault(arguments, "a table has no ops and cannot become a graph");
  return table_to_csv(*input.table());
}

}  // namespace

void add_convert_command(CLI::App& app) {
  auto arguments = std::make_shared<ConvertArguments>();
  CLI::App& command =
      *app.add_subcommand("convert", "Write INPUT in another format: a graph as .json or as a packing problem (.csv)");
  command.add_option("INPUT", arguments->input, input_help(Inputs::all))->required();
  command.add_option("OUTPUT", arguments->output, ".json, .csv, also .gz; - is standard output")->required();
  add_import_options(command, arguments->import);
  command.add_option("--memory", arguments->memory, "Which memory to write to the .csv if tensors live in several")
      ->type_name("NAME");
  add_planning_options(command, arguments->options);
  command.footer("Example: stowage convert model.json.gz problem.csv");
  command.callback([arguments] {
    arguments->import.in_place = arguments->options.in_place;
    const OutputFile output{"OUTPUT", arguments->output};
    check_outputs({output}, {arguments->input});
    check_suffix(output, {{".json", "a graph"}, {".csv", "a packing problem"}});
    const Input input = or_fail(read_input(arguments->input, arguments->import));
    or_fail(write_file(arguments->output, or_fail(converted(input, *arguments))));
  });
}

}  // namespace stowage::cli
