#include "usage.hpp"

#include <algorithm>
#include <cctype>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "output.hpp"

namespace stowage::cli {
namespace {

/// How many characters must be inserted, removed, replaced or swapped with their neighbour to make `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({row[j - 1] + 1, last[j] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last.back();
}

/// "; did you mean 'plan'?", or nothing if no name is like the word.
std::string suggestion(std::string_view word, const std::vector<std::string>& names) {
  if (word.size() < 3) return "";  // everything is like it
  const std::size_t limit = std::max<std::size_t>(1, word.size() / 4);
  const std::string* best = nullptr;
  std::size_t least = limit + 1;
  for (const std::string& name : names) {
    // Whoever stops early, as in --cap, means the rest too.
    const bool begun = word.size() >= 4 && name.starts_with(word);
    const std::size_t distance = begun ? 0 : edit_distance(word, name);
    if (distance < least) {
      least = distance;
      best = &name;
    }
  }
  return best ? fmt::format("; did you mean '{}'?", *best) : "";
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string no_command(const CLI::App& app, const std::string& word) {
  const std::string like = suggestion(word, command_names(app));
  return fmt::format("there is no command '{}'{}{}", word, like, like.empty() ? "; 'stowage help' lists them" : "");
}

/// The name in "--name=value", "--name" and "-nvalue".
std::string name_in(std::string_view argument) {
  if (!argument.starts_with("--")) return std::string(argument.substr(0, 2));
  return std::string(argument.substr(0, argument.find('=')));
}

bool is_option(std::string_view argument) {
  if (argument.size() < 2 || argument[0] != '-') return false;
  return std::isdigit(static_cast<unsigned char>(argument[1])) == 0 && argument[1] != '.';
}

/// The first option that the command does not have. What follows an option that takes a value is that value.
std::optional<std::string> unknown_option(const CLI::App& command, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") return std::nullopt;
    if (!is_option(argument)) continue;
    const CLI::Option* const option = command.get_option_no_throw(name_in(argument));
    if (option == nullptr) return argument.substr(0, argument.find('='));
    const bool has_value = argument.starts_with("--") ? argument.find('=') != std::string::npos : argument.size() > 2;
    if (!has_value && option->get_items_expected_max() > 0) ++i;
  }
  return std::nullopt;
}

/// The command line without its first word and the command.
std::vector<std::string> arguments_after(std::string_view command, int argc, const char* const* argv) {
  std::vector<std::string> all(argv + 1, argv + argc);
  const auto at = std::find(all.begin(), all.end(), command);
  if (at != all.end()) all.erase(at);
  return all;
}

void show_help(const CLI::App& app, const std::string& word) {
  if (word.empty()) return print(app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal));
  const std::vector<std::string> names = command_names(app);
  if (std::find(names.begin(), names.end(), word) == names.end()) end_with(kUsage, no_command(app, word));
  print(app.get_subcommand(word)->help(app.get_name()));
}

}  // namespace

void add_help_command(CLI::App& app) {
  auto word = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("help", "Show what a command does and its options, or list the commands");
  command.add_option("COMMAND", *word, "The command; without it, all are listed");
  command.footer("Example: stowage help plan");
  command.callback([&app, word] { show_help(app, *word); });
}

std::string usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::string word = argc > 1 ? argv[1] : "";
  if (word.empty()) return "a command is missing; 'stowage help' lists them";
  if (chosen.empty() && word[0] != '-') return no_command(app, word);
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string name = chosen.empty() ? "" : command.get_name();
  if (const auto option = unknown_option(command, arguments_after(name, argc, argv))) {
    const std::string like = suggestion(*option, option_names(command));
    return fmt::format(
        "{}{}there is no option '{}'{}{}", name, name.empty() ? "" : ": ", *option, like,
        like.empty() ? fmt::format("; 'stowage help{}{}' lists them", name.empty() ? "" : " ", name) : "");
  }
  return fmt::format("{}{}{}\nSee 'stowage help{}{}'.", name, name.empty() ? "" : ": ", error.what(),
                     name.empty() ? "" : " ", name);
}

}  // namespace stowage::cli
