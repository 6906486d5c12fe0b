#include "pages.hpp"

#include <fmt/format.h>

#include "commands.hpp"
#include "common_options.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace stowage::cli {
namespace {

void say_no_page(const std::string& file, const std::string& reason) {
  fmt::print(stderr, "stowage: {} was not written: {}\n", file, reason);
}

template <class Explained>
auto explained(const std::string& input, const Explained& what, ExplainOptions options) {
  Progress progress(fmt::format("explaining {}", input));
  options.on_replan = [&](const std::string& replan) { progress.now(fmt::format("explaining {}, {}", input, replan)); };
  return explain(what, options);
}

/// A plan to show, with its options.
struct Shown {
  const PlanScene& scene;
  const PlanOptions& options;
};

/// What was asked for, whether the plan fits or not.
struct Capacity {
  std::optional<Bytes> peak;
  std::optional<Bytes> total;
};

/// None if the page has no explanation.
std::optional<Explanation> explanation_for(const PlanPage& page, const std::string& input, const Shown& shown,
                                           const Capacity& asked) {
  if (page.explain_time <= std::chrono::nanoseconds(0)) return std::nullopt;
  const ExplainOptions options{
      .plan = shown.options, .budget = asked.peak, .budget_total = asked.total, .time_limit = page.explain_time};
  // With a capacity the search stops as soon as it is met, so gains would be relative to a plan that could be better.
  if (!shown.options.previous && !shown.options.capacity && !shown.options.capacity_total)
    return explain_with_progress(input, shown.scene, options);
  Result<Explanation> explanation = explain_with_progress(input, shown.scene.planned().graph, options);
  if (explanation) return std::move(*explanation);
  fmt::print(stderr, "stowage: {} has no explanation: {}\n", page.file, to_string(explanation.error()));
  return std::nullopt;
}

void write_shown(const PlanPage& page, const std::string& input, const Shown& shown, const Capacity& asked) {
  const std::optional<Explanation> explanation = explanation_for(page, input, shown, asked);
  const PageOptions with{.label = input, .capacity = asked.peak, .explanation = explanation ? &*explanation : nullptr};
  write_page(page.file, plan_page(shown.scene, with));
}

}  // namespace

CLI::Option* add_html_option(CLI::App& command, std::string& file, const std::string& help) {
  const auto named = [](const std::string& name) {
    return name.empty() ? std::string("a file must have a name") : std::string();
  };
  return command.add_option("--html", file, help)->check(CLI::Validator(named, ""))->type_name("FILE");
}

void write_page(const std::string& file, Result<std::string> page) {
  or_fail(write_file(file, or_fail(std::move(page))));
  if (file != "-") fmt::print(stderr, "report: {}\n", file);
}

Result<Explanation> explain_with_progress(const std::string& input, const Graph& graph, const ExplainOptions& options) {
  return explained(input, graph, options);
}

Explanation explain_with_progress(const std::string& input, const PlanScene& base, const ExplainOptions& options) {
  return explained(input, base, options);
}

void add_plan_page_options(CLI::App& command, PlanPage& page) {
  CLI::Option* const html = add_html_option(
      command, page.file, "Write a self-contained page that shows the plan in a browser, even if it does not fit");
  add_time_option(command, "--explain-time", page.explain_time, "Time limit of the explanation in the page; 0 omits it")
      ->default_str("5s")
      ->needs(html);
}

void write_plan_page(const PlanPage& page, const std::string& input, const Graph& graph, const PlanScene* scene,
                     const PlanOptions& options) {
  if (page.file.empty()) return;
  const Capacity asked{options.capacity, options.capacity_total};
  if (scene) return write_shown(page, input, {*scene, options}, asked);
  if (!options.capacity && !options.capacity_total) return say_no_page(page.file, "there is no plan to show");
  PlanOptions wider = options;
  wider.capacity.reset();
  wider.capacity_total.reset();
  const Result<Planned> other = [&] {
    const Progress progress(fmt::format("planning {} without the capacity", input));
    return plan(graph, wider);
  }();
  if (!other) return say_no_page(page.file, to_string(other.error()));
  if (!other->has_answer()) return say_no_page(page.file, "there is no plan to show");
  const PlanScene wide(*other);
  write_shown(page, input, {wide, wider}, asked);
}

void write_table_page(const PlanPage& page, const std::string& input, const CsvProblem& table,
                      const PlannedProblem& planned, const PlanOptions& options) {
  if (page.file.empty()) return;
  const PageOptions with{.label = input, .capacity = options.capacity};
  if (planned.outcome.has_answer())
    return write_page(page.file, table_page(table, planned.outcome.positions, planned.summary, with));
  PlanOptions wider = options;
  wider.capacity.reset();
  const PlannedProblem other = [&] {
    const Progress progress(fmt::format("packing {} without the capacity", input));
    return or_fail(plan_problem(table, input, wider));
  }();
  if (!other.outcome.has_answer()) return say_no_page(page.file, "there is no plan to show");
  write_page(page.file, table_page(table, other.outcome.positions, other.summary, with));
}

}  // namespace stowage::cli
