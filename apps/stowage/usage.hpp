#pragma once

#include <string>

#include <CLI/CLI.hpp>

/// What is wrong with a command line, in a sentence that helps.
namespace stowage::cli {

/// Adds `stowage help [COMMAND]`.
void add_help_command(CLI::App& app);

/// The message about a command line that `app` rejected with `error`. What is unknown comes first, because the rest may
/// follow from it: an unknown command, then an unknown option, each with the known one that looks most like it.
[[nodiscard]] std::string usage_error(const CLI::App& app, const CLI::ParseError& error, int argc,
                                      const char* const* argv);

}  // namespace stowage::cli
