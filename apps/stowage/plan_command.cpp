#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "common_options.hpp"
#include "input.hpp"
#include "interrupts.hpp"
#include "output.hpp"
#include "outputs.hpp"
#include "pages.hpp"
#include "plan_text.hpp"
#include "problem_plan.hpp"
#include "progress.hpp"
#include "reuse_options.hpp"
#include "stowage/base/printable.hpp"
#include "stowage/report.hpp"
#include "tflm_text.hpp"

namespace stowage::cli {
namespace {

struct PlanArguments {
  std::string input;
  std::string model;  ///< The bytes of a TFLite model, else empty.
  std::string output;
  std::string previous;
  std::string trace;
  std::string snapshot;
  PlanPage page;
  bool keep_offsets = false;
  ImportOptions import;
  bool json = false;
  PlanOptions options;
};

/// `details` is printed in the human-readable form only.
void show(const PlanArguments& arguments, const Summary& summary, const std::string& details = {}) {
  // A plan or page on standard output must be the only output there.
  if (arguments.output == "-" || arguments.page.file == "-") return;
  if (arguments.json) return print_data(summary_to_json(summary));
  print(summary_text(summary) + details);
}

/// A hint how to find out what to change so that a graph fits; empty if no person reads the message.
std::string what_to_change(const PlanArguments& arguments) {
  if (!errors_on_terminal() || !arguments.options.capacity) return {};
  if (arguments.page.file.empty())
    return fmt::format("\nWhat to change: stowage explain {} --capacity {}", arguments.input,
                       arguments.options.capacity->value());
  return fmt::format("\nWhat to change: open {} in a browser", arguments.page.file);
}

/// Ends the command if there is no answer within the capacity. `shortage` says what is too large, if that is known.
void check_answer(const std::string& input, SolveStatus status, const std::string& shortage,
                  const std::string& advice = {}) {
  if (status == SolveStatus::infeasible) {
    end_with(kDoesNotFit, fmt::format("{}: does not fit: {}{}", input,
                                      shortage.empty() ? "the pinned offsets leave no room" : shortage, advice));
  }
  if (status == SolveStatus::timed_out) {
    end_with(kOutOfTime,
             fmt::format("{}: neither a plan that fits nor a proof that there is none was found in time{}{}", input,
                         shortage.empty() ? "" : ": ", shortage));
  }
}

/// The same for the one arena of a table.
std::string shortage_text(const SolveOutcome& outcome, Bytes capacity) {
  const bool proven = outcome.bound.bytes > capacity;
  if (!proven && outcome.peak <= capacity) return {};
  const Bytes bytes = proven ? outcome.bound.bytes : outcome.peak;
  return fmt::format("{} {} bytes, {} more than the {} available",
                     proven ? "it needs at least" : "the best plan so far takes", bytes.value(),
                     (bytes - capacity).value(), capacity.value());
}

PlanOptions options_of(const PlanArguments& arguments, const Graph& graph) {
  PlanOptions options = arguments.options;
  if (arguments.previous.empty()) return options;
  const std::string text = or_fail(read_file(arguments.previous));
  // Entries for tensors that the graph no longer has are ignored.
  options.previous = known_part(graph, *or_fail(parse_plan_file(text, arguments.previous)));
  options.keep_offsets = arguments.keep_offsets;
  return options;
}

/// What the names in a header begin with: its own name, without folders and suffixes. Graphs of different models often
/// have the same name.
std::string symbol_of(const std::string& header) {
  const std::string file = header.substr(header.rfind('/') + 1);
  return file.substr(0, file.rfind(".h"));
}

/// The plan in the format given by the name of the output.
std::string plan_text_for(const PlanArguments& arguments, const Graph& graph, const Plan& plan) {
  const bool is_header = has_extension(arguments.output, ".h");
  const bool is_copy = has_extension(arguments.output, ".tflite");
  const ModelFile model{arguments.model, arguments.input};
  if (is_header && !arguments.model.empty())
    return or_fail(tflite_plan_to_header(model, graph, plan, arguments.import, symbol_of(arguments.output)));
  if (is_header) return or_fail(plan_to_header(graph, plan, symbol_of(arguments.output)));
  if (!is_copy) return plan_to_json(graph, plan);
  if (const std::string note = tflm_copy_text(model, plan, arguments.import); !note.empty())
    fmt::print(stderr, "stowage: {}\n", printable_lines(note));
  return or_fail(tflite_with_plan(model, plan, arguments.import));
}

/// What people are told of a plan.
std::string details_of(const PlanArguments& arguments, const Graph& graph, const Plan& plan) {
  if (arguments.model.empty()) return plan_text(graph, plan);
  return tflm_text({arguments.model, arguments.input}, graph, plan, arguments.import) + plan_text(graph, plan);
}

/// Ends the command if the output cannot have the format that its name implies.
void check_output(const PlanArguments& arguments, const Input& input) {
  check_suffix({"the plan of a graph", arguments.output},
               {{".json", "a plan"}, {".h", "a C header"}, {".tflite", "a copy of a .tflite model, with the plan"}});
  if (has_extension(arguments.output, ".tflite") && (input.format->name != "tflite" || arguments.input == "-"))
    end_with(kUsage, fmt::format("'{}' would be a copy of the model: INPUT must be a .tflite file", arguments.output));
}

/// A result, and whether Ctrl-C ended the search for a better one.
template <class T>
struct Stoppable {
  T result;
  bool stopped;
};

/// Calls `plan` with options that report progress and end with the best answer so far on Ctrl-C.
template <class MakePlan>
auto plan_stoppably(const std::string& doing, PlanOptions options, MakePlan plan) {
  Progress progress(doing);
  const StoppableWork work;
  options.stop = work.token();
  options.on_better = [&](const PlanProgress& better) { progress.now(doing + progress_text(better)); };
  auto result = plan(options);
  return Stoppable<decltype(result)>{std::move(result), work.stopped()};
}

/// Ends the command if it was stopped; what there is has been written then.
void check_stopped(const std::string& input, bool stopped, bool has_answer) {
  if (stopped)
    end_with(kInterrupted, fmt::format("{}: stopped: {}", input,
                                       has_answer ? "this is the best plan so far" : "there is no plan yet"));
}

void plan_graph(const PlanArguments& arguments, const Graph& graph) {
  const PlanOptions options = options_of(arguments, graph);
  const auto [planned, stopped] =
      plan_stoppably(fmt::format("planning {}", arguments.input), options,
                     [&](const PlanOptions& solving) { return or_fail_in(arguments.input, plan(graph, solving)); });
  const Summary summary = summarize(planned);
  const bool reports = !arguments.trace.empty() || !arguments.snapshot.empty() || !arguments.page.file.empty();
  std::optional<PlanScene> scene;
  if (planned.has_answer() && reports) scene.emplace(planned);
  if (planned.has_answer()) {
    if (!arguments.output.empty())
      or_fail(write_file(arguments.output, plan_text_for(arguments, graph, *planned.plan)));
    if (!arguments.trace.empty()) or_fail(write_file(arguments.trace, timeline_to_trace(*scene)));
    if (!arguments.snapshot.empty()) or_fail(write_file(arguments.snapshot, timeline_to_snapshot(*scene)));
  }
  if (planned.has_answer() || arguments.json)
    show(arguments, summary, planned.plan ? details_of(arguments, graph, *planned.plan) : std::string());
  PlanPage page = arguments.page;
  if (stopped) page.explain_time = std::chrono::nanoseconds(0);
  if (scene || !stopped) write_plan_page(page, arguments.input, graph, scene ? &*scene : nullptr, options);
  check_stopped(arguments.input, stopped, planned.has_answer());
  check_answer(arguments.input, planned.status, shortage_text(planned), what_to_change(arguments));
}

void plan_table(const PlanArguments& arguments, const CsvProblem& table) {
  if (!arguments.previous.empty())
    end_with(kUsage, "--previous is for graphs; rows of a table stay at the offset in their column");
  if (!arguments.trace.empty() || !arguments.snapshot.empty())
    end_with(kUsage, "--trace and --snapshot are for graphs");
  refuse_graph_options(arguments.options);
  check_suffix({"the plan of a table", arguments.output}, {{".csv", "the table with offsets"}});
  const auto [planned, stopped] = plan_stoppably(
      fmt::format("packing {}", arguments.input), arguments.options,
      [&](const PlanOptions& solving) { return or_fail(plan_problem(table, arguments.input, solving)); });
  if (planned.outcome.has_answer() && !arguments.output.empty()) {
    or_fail(write_file(arguments.output, csv_with_offsets(table, planned.outcome.positions)));
  }
  if (planned.outcome.has_answer() || arguments.json) show(arguments, planned.summary);
  if (planned.outcome.has_answer() || !stopped)
    write_table_page(arguments.page, arguments.input, table, planned, arguments.options);
  check_stopped(arguments.input, stopped, planned.outcome.has_answer());
  const std::optional<Bytes> capacity = arguments.options.capacity;
  check_answer(arguments.input, planned.outcome.status, capacity ? shortage_text(planned.outcome, *capacity) : "");
}

}  // namespace

void add_plan_command(CLI::App& app) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App& command = *app.add_subcommand("plan", "Plan the memory of INPUT and show how good the plan is");
  command.add_option("INPUT", arguments->input, input_help(Inputs::all))->required();
  command
      .add_option(
          "-o,--output", arguments->output,
          "Write the plan (.json), a C header (.h), a copy of a .tflite model with the plan (.tflite), or for a table "
          "the table with offsets (.csv); - is standard output")
      ->type_name("FILE");
  command.add_option("--trace", arguments->trace, "Write the plan's timeline as Chrome trace events, for Perfetto")
      ->type_name("FILE");
  command
      .add_option("--snapshot", arguments->snapshot,
                  "Write the plan as a PyTorch memory snapshot, for pytorch.org/memory_viz")
      ->type_name("FILE");
  add_plan_page_options(command, arguments->page);
  add_size_option(
      command, "--capacity", arguments->options.capacity,
      "The most bytes that the peak may have in each memory, without weights and the caller's buffers; exit "
      "with 4 if it is proven that no plan fits, with 5 if that is not known");
  add_size_option(command, "--capacity-total", arguments->options.capacity_total,
                  "The same for the peak and the weights together");
  CLI::Option* const previous =
      command
          .add_option("--previous", arguments->previous,
                      "A plan of an earlier version of the graph: offsets stay as they were wherever possible")
          ->type_name("PLAN");
  command
      .add_flag("--keep-offsets", arguments->keep_offsets,
                "Everything that the previous plan placed must keep its offset")
      ->needs(previous);
  add_import_options(command, arguments->import);
  add_solving_options(command, arguments->options);
  add_planning_options(command, arguments->options);
  add_reuse_options(command, arguments->options);
  command.add_flag("--json", arguments->json, "Print the figures as JSON (stowage.summary/1)");
  command.footer(
      "Example: stowage plan model.json -o plan.json --capacity 64MiB\n"
      "         stowage plan model.onnx --html plan.html --capacity 64MiB\n"
      "         stowage plan model.tflite -o planned.tflite\n"
      "         stowage plan training_step.json --base refreshable --zero-fill separate --region-limit 400MiB\n"
      "         stowage plan model.json --trace timeline.json --snapshot memory.pickle\n"
      "         stowage plan model.json --fuse-inputs 4KiB --no-reuse-names logits,kv_update");
  command.callback([arguments] {
    check_outputs({{"-o", arguments->output},
                   {"--trace", arguments->trace},
                   {"--snapshot", arguments->snapshot},
                   {"--html", arguments->page.file}},
                  {arguments->input, arguments->previous});
    const Input input = or_fail(read_input(arguments->input, arguments->import));
    if (const CsvProblem* const table = input.table()) return plan_table(*arguments, *table);
    check_output(*arguments, input);
    if (input.format->name == "tflite" && arguments->input != "-")
      arguments->model = or_fail(read_file(arguments->input));
    plan_graph(*arguments, *input.graph());
  });
}

}  // namespace stowage::cli
