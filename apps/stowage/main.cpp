#include <iostream>
#include <new>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "input.hpp"
#include "interrupts.hpp"
#include "stowage/base/printable.hpp"
#include "usage.hpp"

int main(int argc, char** argv) {
  stowage::cli::handle_interrupts();
  CLI::App app("Plans the memory of tensor graphs: small plans, a proven lower bound, and a verifier.", "stowage");
  app.set_version_flag("--version", "stowage " STOWAGE_VERSION);
  app.require_subcommand(1);
  app.footer(stowage::cli::formats_help() +
             "Exit codes: 0 done, 1 error, 2 usage, 3 plan invalid, 4 does not fit the capacity (proven),\n"
             "            5 out of time without an answer, 6 grew (diff, sweep), 130 stopped by Ctrl-C.\n\n"
             "Example: stowage plan examples/transformer_block.json\n"
             "         stowage plan model.onnx --capacity 64MiB --html report.html");
  stowage::cli::add_plan_command(app);
  stowage::cli::add_verify_command(app);
  stowage::cli::add_explain_command(app);
  stowage::cli::add_diff_command(app);
  stowage::cli::add_sweep_command(app);
  stowage::cli::add_compare_command(app);
  stowage::cli::add_convert_command(app);
  stowage::cli::add_info_command(app);
  stowage::cli::add_replay_command(app);
  stowage::cli::add_completion_command(app);
  stowage::cli::add_help_command(app);

  try {
    app.parse(argc, argv);
    return stowage::cli::kDone;
  } catch (const std::bad_alloc&) {
    std::cerr << "stowage: there is not enough memory for this\n";
    return stowage::cli::kError;
  } catch (const CLI::RuntimeError& done) {
    return done.get_exit_code();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      std::cerr << "stowage: " << stowage::printable_lines(stowage::cli::usage_error(app, error, argc, argv)) << '\n';
      return stowage::cli::kUsage;
    }
    app.exit(error);  // prints the help or the version
    return std::cout.flush() ? stowage::cli::kDone : stowage::cli::kError;
  }
}
