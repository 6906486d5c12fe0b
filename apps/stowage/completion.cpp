#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "output.hpp"

/// Completion scripts, generated from the app's options, so that a new option needs no change here.
namespace stowage::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

std::string bash(const CLI::App& app) {
  const std::vector<const CLI::App*> commands = commands_of(app);
  std::string script =
      "_stowage() {\n  local current=${COMP_WORDS[COMP_CWORD]} words= word\n  case ${COMP_WORDS[1]} in\n";
  for (const CLI::App* command : commands)
    script += fmt::format("    {}) words='{}' ;;\n", command->get_name(), joined(options_of(*command)));
  script += fmt::format("  esac\n  [ \"$COMP_CWORD\" = 1 ] && words='{} {}'\n", joined(names_of(commands)),
                        joined(options_of(app)));
  return script +
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" = 1 ] || [[ $current == -* ]]; then\n"
         "    while IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(compgen -W \"$words\" -- \"$current\")\n"
         "  fi\n}\n"
         "complete -o default -F _stowage stowage\n";
}

std::string zsh(const CLI::App& app) {
  const std::vector<const CLI::App*> commands = commands_of(app);
  std::string script = "#compdef stowage\n_stowage() {\n  if (( CURRENT == 2 )); then\n";
  script += fmt::format("    compadd -- {} {}\n    return\n  fi\n  case $words[2] in\n", joined(names_of(commands)),
                        joined(options_of(app)));
  for (const CLI::App* command : commands) {
    script += fmt::format("    {}) [[ $PREFIX == -* ]] && compadd -- {} || _files ;;\n", command->get_name(),
                          joined(options_of(*command)));
  }
  return script + "  esac\n}\n[ \"$funcstack[1]\" = _stowage ] && _stowage || compdef _stowage stowage\n";
}

/// Quoted for fish.
std::string fish_string(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return result + "'";
}

/// The names and the value of an option, as arguments of fish's `complete`.
std::string fish_option(const CLI::Option& option) {
  std::string words;
  for (const std::string& name : option.get_lnames()) words += " -l " + name;
  for (const std::string& name : option.get_snames()) words += " -s " + name;
  if (!words.empty() && option.get_items_expected_max() > 0) words += " -r";
  return words;
}

std::string fish(const CLI::App& app) {
  std::string script;
  for (const CLI::App* command : commands_of(app)) {
    script += fmt::format("complete -c stowage -n __fish_use_subcommand -a {} -d {}\n", command->get_name(),
                          fish_string(command->get_description()));
    for (const CLI::Option* option : command->get_options()) {
      const std::string words = fish_option(*option);
      if (words.empty()) continue;
      script += fmt::format("complete -c stowage -n '__fish_seen_subcommand_from {}'{} -d {}\n", command->get_name(),
                            words, fish_string(option->get_description()));
    }
  }
  return script;
}

}  // namespace

void add_completion_command(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("completion", "Print a completion script for a shell");
  command.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.footer("Example: stowage completion bash > ~/.local/share/bash-completion/completions/stowage");
  command.callback([shell, &app] {
    print_data(*shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app));
  });
}

}  // namespace stowage::cli
