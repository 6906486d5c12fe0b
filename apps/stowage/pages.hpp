#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "problem_plan.hpp"
#include "stowage/report.hpp"

/// Pages (--html) and explanations, which take long enough to need progress messages.
namespace stowage::cli {

/// Adds --html.
CLI::Option* add_html_option(CLI::App& command, std::string& file, const std::string& help);

/// Writes a page to the file of --html, and names it on standard error; ends the command if that fails.
void write_page(const std::string& file, Result<std::string> page);

/// `explain`, with progress.
Result<Explanation> explain_with_progress(const std::string& input, const Graph& graph, const ExplainOptions& options);
Explanation explain_with_progress(const std::string& input, const PlanScene& base, const ExplainOptions& options);

/// The options of a plan's page.
struct PlanPage {
  std::string file;                                                 ///< Empty: none is asked for.
  std::chrono::nanoseconds explain_time = std::chrono::seconds(5);  ///< 0: without explanation.
};
void add_plan_page_options(CLI::App& command, PlanPage& page);

/// Writes the page of a graph, if one is asked for. Without an answer it shows a plan without the capacity, because
/// that is when it is needed most. `scene` is that of `plan(graph, options)`, null if there is no answer.
void write_plan_page(const PlanPage& page, const std::string& input, const Graph& graph, const PlanScene* scene,
                     const PlanOptions& options);
/// The same for a table.
void write_table_page(const PlanPage& page, const std::string& input, const CsvProblem& table,
                      const PlannedProblem& planned, const PlanOptions& options);

}  // namespace stowage::cli
