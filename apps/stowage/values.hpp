#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "stowage/io.hpp"
#include "stowage/planner.hpp"

/// Options whose values are not just numbers, and options that several commands share.
namespace stowage::cli {

/// Adds an option that takes a size: "4096", "64KiB", "1.5GiB".
CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::optional<Bytes>& value,
                             const std::string& help);

/// How INPUT is read: --alignment, a size that must be a power of two, --views and --dim.
void add_import_options(CLI::App& command, ImportOptions& options);

/// Adds an option that takes on or off.
CLI::Option* add_switch_option(CLI::App& command, const std::string& name, bool& value, const std::string& help);

/// Adds --base, for planning and for verifying what was planned.
void add_base_option(CLI::App& command, AddressBase& value);

/// Adds --region-limit, likewise.
void add_region_limit_option(CLI::App& command, std::optional<Bytes>& value);

/// --solver, --time-limit, --threads, --seed, --capacity.
void add_solving_options(CLI::App& command, PlanOptions& options);
/// What the plan may do, and how the graph's constraints are met: --in-place, --keep-inputs, --no-reuse,
/// --no-reuse-names, --zero-fill, --base, --region-limit, --batch-start, --fuse-inputs.
void add_planning_options(CLI::App& command, PlanOptions& options);

/// Reads "2%" as 0.02. None for anything else, including values below 0.
[[nodiscard]] std::optional<double> parse_percentage(const std::string& text);

/// Reads "500ms", "2s", "1.5m", "10" (seconds). None for anything else.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_duration(const std::string& text);

}  // namespace stowage::cli
