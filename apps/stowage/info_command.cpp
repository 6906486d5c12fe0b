#include <algorithm>
#include <cctype>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common_options.hpp"
#include "input.hpp"
#include "output.hpp"
#include "stowage/base/printable.hpp"

namespace stowage::cli {
namespace {

struct InfoArguments {
  std::string input;
  ImportOptions import;
  bool json = false;
};

/// A few lines of a list; the rest as a number.
constexpr std::size_t kListed = 20;

/// Options as words for a shell: "--dim batch=1 --shape 'my input=1x3'".
std::vector<std::string> trial_options(const FileInfo& info) {
  std::vector<std::string> words;
  for (const auto& [name, value] : info.dim_values) {
    words.emplace_back("--dim");
    words.push_back(fmt::format("{}={}", name, value));
  }
  for (const auto& [name, dims] : info.shape_values) {
    words.emplace_back("--shape");
    words.push_back(fmt::format("{}={}", name, fmt::join(dims, "x")));
  }
  return words;
}

/// Quoted where a shell needs that.
std::string shell_word(const std::string& word) {
  static constexpr std::string_view kPlain = "_-./:@%+=";
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string command_words(const FileInfo& info) {
  std::string text;
  for (const std::string& word : trial_options(info)) text += (text.empty() ? "" : " ") + printable(shell_word(word));
  return text;
}

nlohmann::ordered_json dim_json(const FileInfo::Dim& dim) {
  if (const auto* const value = std::get_if<std::int64_t>(&dim)) return *value;
  if (const auto* const name = std::get_if<std::string>(&dim)) return *name;
  return nullptr;
}

nlohmann::ordered_json inputs_json(const FileInfo& info) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FileInfo::Input& input : info.inputs) {
    nlohmann::ordered_json shape;
    if (input.shape) {
      shape = nlohmann::ordered_json::array();
      for (const FileInfo::Dim& dim : *input.shape) shape.push_back(dim_json(dim));
    }
    list.push_back({{"name", input.name}, {"dtype", input.dtype}, {"shape", shape}});
  }
  return list;
}

std::string as_json(const FileInfo& info) {
  nlohmann::ordered_json unsupported = nlohmann::ordered_json::array();
  for (const FileInfo::Obstacle& each : info.unsupported)
    unsupported.push_back({{"where", each.where}, {"reason", each.reason}, {"tensors", each.tensors}});
  const nlohmann::ordered_json document = {{"schema", "stowage.info/1"},
                                           {"format", info.format},
                                           {"name", info.name},
                                           {"opsets", info.opsets},
                                           {"inputs", inputs_json(info)},
                                           {"dims", info.dims},
                                           {"options", trial_options(info)},
                                           {"weights_bytes", info.weights.value()},
                                           {"ops", info.ops},
                                           {"unsupported", unsupported}};
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string dim_text(const FileInfo::Dim& dim) {
  if (const auto* const value = std::get_if<std::int64_t>(&dim)) return std::to_string(*value);
  if (const auto* const name = std::get_if<std::string>(&dim)) return printable(*name);
  return "?";
}

std::string shape_text(const FileInfo::Input& input) {
  if (!input.shape) return "[…]";
  std::vector<std::string> dims;
  for (const FileInfo::Dim& dim : *input.shape) dims.push_back(dim_text(dim));
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

std::string format_text(const FileInfo& info) {
  std::string text = fmt::format("  {:<8} {}", "format", info.format);
  for (const auto& [domain, version] : info.opsets) text += fmt::format(", {} {}", printable(domain), version);
  return text + "\n";
}

std::string inputs_text(const FileInfo& info) {
  std::string text;
  for (std::size_t i = 0; i < info.inputs.size() && i < kListed; ++i) {
    const FileInfo::Input& input = info.inputs[i];
    text += fmt::format("  {:<8} {}: {} {}\n", i == 0 ? "inputs" : "", printable(input.name),
                        input.dtype.empty() ? "unknown type" : input.dtype, shape_text(input));
  }
  if (info.inputs.size() > kListed) text += fmt::format("  {:<8} and {} more\n", "", info.inputs.size() - kListed);
  return text;
}

/// The most frequent kinds first.
std::string ops_text(const FileInfo& info) {
  std::vector<std::pair<std::string, std::size_t>> kinds(info.ops.begin(), info.ops.end());
  std::sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::size_t sum = 0;
  std::vector<std::string> texts;
  for (const auto& [kind, count] : kinds) {
    sum += count;
    texts.push_back(fmt::format("{} {}", count, printable(kind)));
  }
  return fmt::format("  {:<8} {}{}{}\n", "ops", sum, sum > 0 ? ": " : "", fmt::join(texts, ", "));
}

std::string obstacles_text(const FileInfo& info) {
  const std::string with = command_words(info);
  if (info.unsupported.empty())
    return fmt::format("  {:<8} {}{}\n", "plan",
                       toned(Tone::good, with.empty() ? "needs no options" : "possible with "), with);
  std::string text = fmt::format("  {:<8} {}{}\n", "plan", toned(Tone::bad, "not possible"),
                                 with.empty() ? ":" : fmt::format(", tried with {}:", with));
  for (std::size_t i = 0; i < info.unsupported.size() && i < kListed; ++i) {
    const auto& [where, reason, tensors] = info.unsupported[i];
    text += fmt::format("    {}{}{}{}\n", where, where.empty() ? "" : ": ", reason,
                        tensors > 0 ? fmt::format(" ({})", counted(tensors, "tensor")) : "");
  }
  if (info.unsupported.size() > kListed) text += fmt::format("    and {} more\n", info.unsupported.size() - kListed);
  return text;
}

std::string as_text(const FileInfo& info, const std::string& path) {
  std::string text = fmt::format("{}\n", toned(Tone::strong, printable(info.name.empty() ? path : info.name)));
  text += format_text(info) + inputs_text(info);
  std::vector<std::string> dims;
  for (const std::string& dim : info.dims) dims.push_back(printable(dim));
  if (!dims.empty()) text += fmt::format("  {:<8} {}\n", "dims", fmt::join(dims, ", "));
  text += fmt::format("  {:<8} {}\n", "weights", size_text(info.weights));
  return text + ops_text(info) + obstacles_text(info);
}

}  // namespace

void add_info_command(CLI::App& app) {
  auto arguments = std::make_shared<InfoArguments>();
  CLI::App& command =
      *app.add_subcommand("info", "Show what INPUT contains, which options it needs, and what cannot be planned");
  command.add_option("INPUT", arguments->input, input_help(Inputs::all))->required();
  add_import_options(command, arguments->import);
  command.add_flag("--json", arguments->json, "Print it as JSON (stowage.info/1)");
  command.footer("Example: stowage info model.onnx");
  command.callback([arguments] {
    const std::string bytes = or_fail(read_file(arguments->input));
    const FileInfo info = or_fail(inspect_bytes(bytes, arguments->input, arguments->import));
    arguments->json ? print_data(as_json(info)) : print(as_text(info, arguments->input));
  });
}

}  // namespace stowage::cli
