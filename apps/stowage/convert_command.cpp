#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "input.hpp"
#include "output.hpp"
#include "stowage/liveness.hpp"
#include "stowage/lower.hpp"
#include "values.hpp"

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

std::vector<std::string> row_ids(const Graph& graph, const Liveness& liveness, const ArenaProblem& arena) {
  std::vector<std::optional<TensorId>> first_tensor(liveness.storages.size());
  for (std::size_t t = graph.tensors().size(); t-- > 0;) {
    const AliasClass& klass = liveness.classes[liveness.places[t].id.index()];
    if (klass.residence == Residence::shared || klass.residence == Residence::persistent)
      first_tensor[klass.storage.index()] = TensorId(t);
  }
  std::vector<std::string> ids;
  for (const Occupant& occupant : arena.occupants) {
    if (const auto* storage = std::get_if<StorageId>(&occupant)) {
      const TensorId id = *first_tensor[storage->index()];
      ids.push_back(row_id(graph.tensor(id).name, fmt::format("#{}", id.index())));
    } else {
      const auto& ref = std::get<WorkspaceId>(occupant);
      ids.push_back(row_id(graph.op(ref.op).name, fmt::format("#op{}.{}", ref.op.index(), ref.index)));
    }
  }
  return ids;
}

Result<std::string> graph_to_csv(const Graph& graph, const ConvertArguments& arguments) {
  const PlanOptions& options = arguments.options;
  const Liveness liveness =
      analyze(graph, {.in_place = options.in_place, .keep_inputs = options.keep_inputs, .no_reuse = options.no_reuse});
  const Lowering lowering = lower(graph, liveness);
  const ArenaProblem* chosen = nullptr;
  for (const ArenaProblem& arena : lowering.arenas) {
    if (arena.kind != ArenaKind::shared) continue;
    if (!arguments.memory.empty() && graph.memory(arena.memory).name != arguments.memory) continue;
    if (chosen) return fault(arguments, "tensors live in several memories, a table has one: choose with --memory NAME");
    chosen = &arena;
  }
  if (!chosen) return fault(arguments, "no tensor needs memory there, so that there is nothing to write");
  Result<std::string> text = problem_to_csv(chosen->problem, row_ids(graph, liveness, *chosen));
  if (!text) return fault(arguments, text.error().message);
  return text;
}

Result<std::string> converted(const Input& input, const ConvertArguments& arguments) {
  const bool to_csv = has_extension(arguments.output, ".csv");
  if (const auto* graph = std::get_if<Graph>(&input))
    return to_csv ? graph_to_csv(*graph, arguments) : Result<std::string>(graph_to_json(*graph));
  if (has_extension(arguments.output, ".json")) return fault(arguments, "a table has no ops, and cannot become a graph");
  const auto& table = std::get<CsvProblem>(input);
  return table_to_csv(table);
}

}  // namespace

void add_convert_command(CLI::App& app) {
  auto arguments = std::make_shared<ConvertArguments>();
  CLI::App& command =
      *app.add_subcommand("convert", "Write INPUT in another format: a graph as .json or as a packing problem (.csv)");
  command
      .add_option("INPUT", arguments->input,
                  "A graph (.json), a model (.onnx, .tflite) or a table (.csv), also .gz; - is standard input")
      ->required();
  command.add_option("OUTPUT", arguments->output, ".json, .csv, also .gz; - is standard output")->required();
  add_import_options(command, arguments->import);
  command.add_option("--memory", arguments->memory, "Which memory's problem goes to the .csv, where there are several")
      ->type_name("NAME");
  add_planning_options(command, arguments->options);
  command.footer("Example: stowage convert model.json.gz problem.csv");
  command.callback([arguments] {
    arguments->import.in_place = arguments->options.in_place;
    const Input input = or_fail(read_input(arguments->input, arguments->import));
    or_fail(write_file(arguments->output, or_fail(converted(input, *arguments))));
  });
}

}  // namespace stowage::cli
