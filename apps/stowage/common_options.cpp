#include "common_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "input.hpp"

namespace stowage::cli {
namespace {

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const SolverInfo& info : solvers()) names.emplace_back(info.name);
  return names;
}

template <class Value>
using Choices = std::vector<std::pair<std::string, Value>>;

/// Adds an option that takes one of a few words. The current value is the default.
template <class Value>
void add_choice_option(CLI::App& command, const std::string& name, Value& value, const Choices<Value>& choices,
                       const std::string& help) {
  std::vector<std::string> words;
  std::string shown;
  std::string chosen;
  for (const auto& [word, meaning] : choices) {
    words.push_back(word);
    shown += (shown.empty() ? "" : "|") + word;
    if (meaning == value) chosen = word;
  }
  const auto read = [&value, choices](const std::string& text) {
    for (const auto& [word, meaning] : choices) {
      if (word == text) value = meaning;
    }
  };
  command.add_option_function<std::string>(name, read, help)
      ->check(CLI::IsMember(words))
      ->type_name(shown)
      ->default_str(chosen);
}

Bytes read_size(const std::string& text) {
  const std::optional<Bytes> size = parse_bytes(text);
  if (!size) throw CLI::ValidationError("'" + text + "' is not a size such as 4096, 64KiB or 1.5GiB");
  return *size;
}

struct NumberWithUnit {
  double number;
  std::string_view unit;
};

/// Splits "2.5ms" into 2.5 and "ms". The unit may be empty. Nothing without a number, or if it is negative.
std::optional<NumberWithUnit> split_unit(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || !(number >= 0)) return std::nullopt;
  return NumberWithUnit{number, {rest, static_cast<std::size_t>(end - rest)}};
}

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"m", 60e9}}};
  static constexpr double kLimit = 9e18;  // nanoseconds, below 2^63
  const std::optional<NumberWithUnit> parts = split_unit(text);
  if (!parts) return std::nullopt;
  for (const auto& [unit, factor] : kUnits) {
    const double nanoseconds = parts->number * factor;
    if (parts->unit == unit && nanoseconds < kLimit)
      return std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds));
  }
  return std::nullopt;
}

/// Reads all of `text` as a number that is not negative.
std::optional<std::int64_t> parse_count(std::string_view text) {
  std::int64_t value = -1;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || rest != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// "batch=4" as "batch" and "4"; the name itself may contain '='. An empty name if there is none.
std::pair<std::string, std::string_view> split_assignment(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == text.npos) return {};
  return {std::string(text.substr(0, equals)), text.substr(equals + 1)};
}

void add_dim(ImportOptions& options, const std::string& text) {
  const auto [name, number] = split_assignment(text);
  const std::optional<std::int64_t> value = parse_count(number);
  if (name.empty() || !value) throw CLI::ValidationError("'" + text + "' is not a dim such as batch=4");
  options.dims[name] = *value;
}

/// Reads "batch=1,2,4".
void add_dim_values(std::vector<DimValues>& dims, const std::string& text) {
  auto [name, numbers] = split_assignment(text);
  DimValues dim{std::move(name), {}};
  while (true) {
    const std::size_t end = numbers.find(',');
    const std::optional<std::int64_t> value = parse_count(numbers.substr(0, end));
    if (dim.name.empty() || !value)
      throw CLI::ValidationError("'" + text + "' is not a dim with its values, such as batch=1,2,4");
    if (std::find(dim.values.begin(), dim.values.end(), *value) != dim.values.end())
      throw CLI::ValidationError("'" + text + "' has " + std::to_string(*value) + " twice");
    dim.values.push_back(*value);
    if (end == numbers.npos) break;
    numbers.remove_prefix(end + 1);
  }
  for (const DimValues& other : dims) {
    if (other.name == dim.name) throw CLI::ValidationError("the dim '" + dim.name + "' is given twice");
  }
  dims.push_back(std::move(dim));
}

/// Reads "1x3x224" as numbers, each >= 0; nothing for other texts. An empty text has none: the shape of a scalar.
std::optional<std::vector<std::int64_t>> parse_shape(std::string_view text) {
  std::vector<std::int64_t> dims;
  if (text.empty()) return dims;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t dim = -1;
    const auto [rest, failure] = std::from_chars(at, end, dim);
    if (failure != std::errc{} || dim < 0) return std::nullopt;
    dims.push_back(dim);
    if (rest == end) return dims;
    if (*rest != 'x') return std::nullopt;
    at = rest + 1;
  }
}

/// Reads "x=1x3x224x224"; the name itself may contain '='.
void add_shape(ImportOptions& options, const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const bool named = equals != std::string::npos && equals > 0;
  const auto shape = named ? parse_shape(std::string_view(text).substr(equals + 1)) : std::nullopt;
  if (!shape) throw CLI::ValidationError("'" + text + "' is not a shape such as image=1x3x224x224");
  options.shapes[text.substr(0, equals)] = *shape;
}

/// How the constraints of a graph are met.
void add_constraint_options(CLI::App& command, PlanOptions& options) {
  add_choice_option<FillPolicy>(
      command, "--zero-fill", options.zero_fill, {{"central", FillPolicy::central}, {"separate", FillPolicy::separate}},
      "Fill memory that must hold a value: all at once at the start, or each right before its op");
  add_base_option(command, options.base);
  add_padding_option(command, options.padding);
  add_region_limit_option(command, options.region_limit);
  add_batch_start_option(command, options.batch_start);
  const auto read_fuse = [&options](const std::string& text) { options.fuse_inputs_up_to = read_size(text); };
  command
      .add_option_function<std::string>(
          "--fuse-inputs", read_fuse,
          "Place zero-copy inputs no larger than this next to each other instead of binding them")
      ->type_name("SIZE")
      ->default_str("0");
}

/// Adds --dim, whose values `add_one` reads one at a time.
template <class AddOne>
void add_dim_option(CLI::App& command, const std::string& value, const std::string& help, AddOne add_one) {
  const auto read = [add_one](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) add_one(text);
  };
  command
      .add_option_function<std::vector<std::string>>("--dim", read,
                                                     help + " (" + formats_with(ImportOption::dims) + ")")
      ->allow_extra_args(false)
      ->type_name(value);
}

/// What holds for every value of the dims.
void add_fixed_import_options(CLI::App& command, ImportOptions& options) {
  const auto check = [](const std::string& text) {
    static constexpr Bytes kMaxAlignment{std::int64_t{1} << 40};  // of a graph
    const std::optional<Bytes> size = parse_bytes(text);
    const bool good = size && is_power_of_two(*size) && *size <= kMaxAlignment;
    return good ? std::string() : "'" + text + "' is not a power of two up to 2^40";
  };
  add_size_option(command, "--alignment", options.alignment,
                  "Alignment of every memory (in a table, of rows without one), instead of what INPUT says")
      ->check(check);
  add_switch_option(command, "--views", options.views,
                    "Let reshapes and similar ops of a model share the memory of their input (" +
                        formats_with(ImportOption::views) + ")");
  const auto read_fold = [&options](const std::string& text) { options.fold = text == "on"; };
  command
      .add_option_function<std::string>(
          "--fold", read_fold,
          "Treat what is computed from weights alone as weights too: computed once, before the first run (" +
              formats_with(ImportOption::fold) + "; default: on for onnx, off for graph)")
      ->check(CLI::IsMember({"on", "off"}))
      ->type_name("on|off");
  const auto read_shapes = [&options](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) add_shape(options, text);
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--shape", read_shapes,
          "The shape of an input of a model, where the file leaves dims open; may be repeated (" +
              formats_with(ImportOption::shapes) + ")")
      ->allow_extra_args(false)
      ->type_name("NAME=1x3x8");
  command
      .add_option("--limit", options.limit,
                  "Accept files that ask for this many times as much as usual: objects, batches × ops and the like")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace

CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::optional<Bytes>& value,
                             const std::string& help) {
  const auto read = [&value](const std::string& text) { value = read_size(text); };
  return command.add_option_function<std::string>(name, read, help)->type_name("SIZE");
}

std::chrono::nanoseconds read_duration(const std::string& text) {
  const std::optional<std::chrono::nanoseconds> time = parse_duration(text);
  if (!time) throw CLI::ValidationError("'" + text + "' is not a time such as 500ms, 2s or 1m");
  return *time;
}

CLI::Option* add_switch_option(CLI::App& command, const std::string& name, bool& value, const std::string& help) {
  const auto read = [&value](const std::string& text) { value = text == "on"; };
  return command.add_option_function<std::string>(name, read, help)
      ->check(CLI::IsMember({"on", "off"}))
      ->type_name("on|off")
      ->default_str(value ? "on" : "off");
}

void add_import_options(CLI::App& command, ImportOptions& options) {
  add_fixed_import_options(command, options);
  add_dim_option(command, "NAME=N", "The value of a symbolic dim of a model; may be repeated",
                 [&options](const std::string& text) { add_dim(options, text); });
}

void add_import_options(CLI::App& command, ImportOptions& options, std::vector<DimValues>& dims) {
  add_dim_option(command, "NAME=N,N,…",
                 "The values of a symbolic dim; with several dims, all combinations of them; may be repeated",
                 [&dims](const std::string& text) { add_dim_values(dims, text); });
  add_fixed_import_options(command, options);
}

void add_base_option(CLI::App& command, AddressBase& value) {
  add_choice_option<AddressBase>(
      command, "--base", value, {{"fixed", AddressBase::fixed}, {"refreshable", AddressBase::refreshable}},
      "Refreshable: shared memory may move between runs, so ops with fixed addresses get a separate arena");
}

void add_padding_option(CLI::App& command, Padding& value) {
  add_choice_option<Padding>(
      command, "--padding", value, {{"own", Padding::own}, {"none", Padding::none}},
      "Own: the bytes up to a tensor's alignment belong to it; none: sizes are exact, only offsets are aligned");
}

void add_padding_option(CLI::App& command, std::optional<Padding>& value) {
  const auto read = [&value](const std::string& text) { value = text == "own" ? Padding::own : Padding::none; };
  command
      .add_option_function<std::string>(
          "--padding", read,
          "Whether the bytes up to a tensor's alignment belong to it (default: what PLAN was made with)")
      ->check(CLI::IsMember({"own", "none"}))
      ->type_name("own|none");
}

void add_region_limit_option(CLI::App& command, std::optional<Bytes>& value) {
  add_size_option(command, "--region-limit", value, "Split arenas into regions no larger than this, such as 400MiB");
}

void add_batch_start_option(CLI::App& command, BatchStart& value) {
  add_choice_option<BatchStart>(
      command, "--batch-start", value, {{"free", BatchStart::free}, {"same", BatchStart::same}},
      "Where the contiguous groups of different batches start: anywhere, or at the same offset");
}

void add_solving_options(CLI::App& command, PlanOptions& options) {
  const auto not_negative = [](const std::string& text) {
    return text.starts_with('-') ? "'" + text + "' is below 0" : std::string();
  };
  command.add_option("--solver", options.solver, "Which solver packs")
      ->check(CLI::IsMember(solver_names()))
      ->type_name("NAME")
      ->capture_default_str();
  const auto read_limit = [&options](const std::string& text) {
    options.time_limit = text == "none" ? std::nullopt : std::optional(read_duration(text));
  };
  command
      .add_option_function<std::string>("--time-limit", read_limit,
                                        "Time limit of solving, or none; the best answer so far is taken")
      ->type_name("TIME")
      ->default_str(options.time_limit ? "1s" : "none");
  const auto read_nodes = [&options](const std::uint64_t nodes) { options.node_budget = nodes; };
  command
      .add_option_function<std::uint64_t>("--node-budget", read_nodes,
                                          "End a search after about this many nodes, whatever the time: the same plan "
                                          "everywhere (default: 200000 without a time limit)")
      ->check(CLI::Validator(not_negative, ""))
      ->type_name("N");
  command.add_option("--threads", options.threads, "Threads for solving; the answer does not depend on it")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of the solvers that use random numbers")
      ->check(CLI::Validator(not_negative, ""))
      ->type_name("N")
      ->capture_default_str();
}

void add_planning_options(CLI::App& command, PlanOptions& options) {
  add_switch_option(command, "--in-place", options.in_place, "Let outputs overwrite inputs where an op allows it");
  add_switch_option(command, "--extra-copies", options.extra_copies,
                    "Copy members of contiguous groups that need no copy, where that takes less memory");
  command.add_flag("--keep-inputs", options.keep_inputs, "Keep the inputs' bytes to the end of the run");
  command.add_flag("--no-reuse", options.no_reuse, "Reuse no bytes: give every tensor its own");
  command
      .add_option("--no-reuse-names", options.no_reuse_names,
                  "Let tensors with these names, and outputs and workspaces of ops with these names, share no bytes; "
                  "may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,…");
  add_constraint_options(command, options);
}

std::optional<double> parse_percentage(const std::string& text) {
  static constexpr double kLimit = 1e9;
  const std::optional<NumberWithUnit> parts = split_unit(text);
  if (!parts || parts->unit != "%" || parts->number > kLimit) return std::nullopt;
  return parts->number / 100;
}

}  // namespace stowage::cli
