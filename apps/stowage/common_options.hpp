#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "stowage/io.hpp"
#include "stowage/planner.hpp"

/// Kinds of options (a size, a time, on or off), and options that several commands share.
namespace stowage::cli {

/// Adds an option that takes a size: "4096", "64KiB", "1.5GiB".
CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::optional<Bytes>& value,
                             const std::string& help);

/// Reads "500ms", "2s", "1.5m", "10" (seconds). Throws `CLI::ValidationError` for anything else.
[[nodiscard]] std::chrono::nanoseconds read_duration(const std::string& text);

/// Adds an option that takes a time, as `read_duration` does. The value is nanoseconds or an optional of them.
template <class Value>
CLI::Option* add_time_option(CLI::App& command, const std::string& name, Value& value, const std::string& help) {
  const auto read = [&value](const std::string& text) { value = read_duration(text); };
  return command.add_option_function<std::string>(name, read, help)->type_name("TIME");
}

/// Adds an option that takes on or off.
CLI::Option* add_switch_option(CLI::App& command, const std::string& name, bool& value, const std::string& help);

/// How INPUT is read: --alignment, --views, --fold, --dim, --shape and --limit.
void add_import_options(CLI::App& command, ImportOptions& options);

/// The values that a dim takes in turn.
struct DimValues {
  std::string name;
  std::vector<std::int64_t> values;  ///< Different from each other.
};

/// The same, where each --dim may have several values: --dim batch=1,2,4.
void add_import_options(CLI::App& command, ImportOptions& options, std::vector<DimValues>& dims);

/// Adds --base, for planning and for verifying what was planned.
void add_base_option(CLI::App& command, AddressBase& value);

/// Adds --padding, for the same two. For verifying, the value is an optional: without the option, the plan says it.
void add_padding_option(CLI::App& command, Padding& value);
void add_padding_option(CLI::App& command, std::optional<Padding>& value);

/// Adds --region-limit, for the same two.
void add_region_limit_option(CLI::App& command, std::optional<Bytes>& value);

/// Adds --batch-start, for the same two.
void add_batch_start_option(CLI::App& command, BatchStart& value);

/// --solver, --time-limit, --threads, --seed, --node-budget.
void add_solving_options(CLI::App& command, PlanOptions& options);

/// What the plan may do, and how the graph's constraints are met: --in-place, --extra-copies, --keep-inputs,
/// --no-reuse,
/// --no-reuse-names, --zero-fill, --base, --padding, --region-limit, --batch-start, --fuse-inputs.
void add_planning_options(CLI::App& command, PlanOptions& options);

/// Reads "2%" as 0.02. Nothing for other texts, and for values below 0 or above 10^9 %.
[[nodiscard]] std::optional<double> parse_percentage(const std::string& text);

}  // namespace stowage::cli
