#pragma once

#include <CLI/CLI.hpp>

/// The sub-commands. Each adds itself to the app: its options, its help with an example, and a callback that does the
/// work and throws `CLI::RuntimeError` with the exit code.
namespace stowage::cli {

/// Exit codes of the process; scripts depend on them.
enum ExitCode : int {
  kDone = 0,
  kError = 1,  ///< I/O, parse, invalid graph.
  kUsage = 2,
  kPlanInvalid = 3,
  kDoesNotFit = 4,     ///< Proven: no plan fits the capacity.
  kOutOfTime = 5,      ///< Without an answer.
  kGrew = 6,           ///< diff, sweep: a peak grew by more than the limit.
  kInterrupted = 130,  ///< Ctrl-C; the best plan so far was written.
};

void add_plan_command(CLI::App& app);
void add_verify_command(CLI::App& app);
void add_compare_command(CLI::App& app);
void add_convert_command(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_diff_command(CLI::App& app);
void add_sweep_command(CLI::App& app);
void add_replay_command(CLI::App& app);
void add_info_command(CLI::App& app);
void add_completion_command(CLI::App& app);

}  // namespace stowage::cli
