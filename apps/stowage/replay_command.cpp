#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "commands.hpp"
#include "common_options.hpp"
#include "output.hpp"
#include "outputs.hpp"
#include "pages.hpp"
#include "progress.hpp"
#include "stowage/io.hpp"
#include "stowage/memory.hpp"
#include "stowage/replay.hpp"

namespace stowage::cli {
namespace {

constexpr std::chrono::seconds kPatience(4);

struct ReplayArguments {
  std::string trace;
  std::string page;
  std::string allocator{allocators().front().name};
  std::string device = "sim";
  std::uint32_t passes = 1;
  std::uint64_t lag = 256;
  std::optional<Bytes> limit;
  bool json = false;
};

std::vector<std::string> allocator_names() {
  std::vector<std::string> names;
  for (const AllocatorInfo& info : allocators()) names.emplace_back(info.name);
  return names;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const DeviceInfo& info : devices()) names.emplace_back(info.name);
  return names;
}

/// A replay reserves the host's memory without touching it; a machine does not reserve more than it has.
void require_room(const ReplayArguments& arguments, const Trace& trace) {
  const Bytes machine(static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE));
  const Bytes peak = peak_requested(trace);
  if (peak <= machine) return;
  fail({ErrorCode::out_of_memory,
        fmt::format("{} are live at once, but this machine has {}; --device sim has no limit", to_human(peak),
                    to_human(machine)),
        {.file = arguments.trace, .line = {}, .path = {}}});
}

void require_its_streams(const ReplayArguments& arguments, const Trace& trace) {
  const auto all = allocators();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const AllocatorInfo& info) { return info.name == arguments.allocator; });
  const bool several = std::any_of(trace.events.begin(), trace.events.end(),
                                   [](const Trace::Event& event) { return event.stream != StreamId(0); });
  if (found->any_stream || !several) return;
  fail({ErrorCode::unsupported,
        fmt::format("the trace has several streams, but {} serves only one", arguments.allocator),
        {.file = arguments.trace, .line = {}, .path = {}}});
}

ReplayReport run(const ReplayArguments& arguments, const Trace& trace) {
  const Progress progress(fmt::format("replaying {}", arguments.trace));
  const std::shared_ptr<Device> device = or_fail(open_device(arguments.device, {.memory = arguments.limit}));
  if (device.get() == &cpu_device()) require_room(arguments, trace);
  ReplayReport report =
      or_fail_in(arguments.trace, replay(trace, arguments.allocator, *device,
                                         {.passes = arguments.passes,
                                          .samples = arguments.page.empty() ? std::size_t{0} : kPageSamples,
                                          .blocks = arguments.page.empty() ? std::size_t{0} : kPageBlocks,
                                          .lag = arguments.lag,
                                          .give_up_after = kPatience}));
  report.allocator = arguments.allocator;
  report.device = arguments.device;
  return report;
}

std::string calls_text(const ReplayReport& report) {
  return fmt::format("{} creates, {} maps, {} unmaps, {} access calls, {} waits", report.creates, report.maps,
                     report.unmaps, report.access_calls, report.event_waits);
}

std::string to_text(const ReplayArguments& arguments, const ReplayReport& report) {
  const Tone tone = report.waste() <= 0.02 ? Tone::good : report.waste() <= 0.1 ? Tone::warning : Tone::bad;
  std::string text = fmt::format("{}: {} events, {} on {}", toned(Tone::strong, arguments.trace), report.events,
                                 report.allocator, report.device);
  if (arguments.passes > 1) text += fmt::format(", pass {}", arguments.passes);
  text += fmt::format("\n  requested  {:>14}   the most at one time\n", size_text(report.peak_requested));
  text += fmt::format("  reserved   {:>14}   {}\n", size_text(report.peak_reserved),
                      toned(tone, fmt::format("{:.1f}% waste", 100 * report.waste())));
  text += fmt::format("  time       {:>14}   per event\n", fmt::format("{:.0f} ns", report.ns_per_event));
  text += fmt::format("  calls      {}\n", calls_text(report));
  if (report.failures > 0) text += toned(Tone::bad, fmt::format("  failures   {:>14}\n", report.failures));
  return text;
}

void add_options(CLI::App& command, ReplayArguments& arguments) {
  command.add_option("--allocator", arguments.allocator, "Which allocator serves the trace")
      ->check(CLI::IsMember(allocator_names()))
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--device", arguments.device, "Which device's memory; sim only counts bytes and has no limit")
      ->check(CLI::IsMember(device_names()))
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--passes", arguments.passes, "Replay this many times in a row and report the last pass")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--lag", arguments.lag, "Work on a stream completes this many events after it was queued")
      ->check(CLI::Range(0, 1'000'000'000))
      ->type_name("N")
      ->capture_default_str();
  add_size_option(command, "--limit", arguments.limit, "The memory of the device; sim only");
  add_html_option(command, arguments.page, "Write a self-contained page that shows memory over time in a browser");
}

}  // namespace

void add_replay_command(CLI::App& app) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App& command = *app.add_subcommand("replay", "Replay TRACE with an allocator: memory reserved, waste and time");
  command
      .add_option("TRACE", arguments->trace,
                  "A trace (op,id,size,stream) or RMM's log as .csv, also .gz; - is standard input")
      ->required();
  add_options(command, *arguments);
  command.add_flag("--json", arguments->json, "Print the figures as JSON (stowage.replay/1)");
  command.footer(
      "Example: stowage replay examples/serving_trace.csv --passes 2\n"
      "         stowage replay examples/serving_trace.csv --allocator torch-native --html replay.html");
  command.callback([arguments] {
    if (arguments->limit && arguments->device != "sim") end_with(kUsage, "--limit is for --device sim");
    check_outputs({{"--html", arguments->page}}, {arguments->trace});
    const Trace trace = or_fail(parse_trace(or_fail(read_file(arguments->trace)), arguments->trace));
    require_its_streams(*arguments, trace);
    const ReplayReport report = run(*arguments, trace);
    if (report.first_failure) fmt::print(stderr, "stowage: the first failure: {}\n", to_string(*report.first_failure));
    if (!arguments->page.empty()) write_page(arguments->page, replay_page(arguments->trace, report));
    if (arguments->page == "-") return;
    arguments->json ? print_data(replay_to_json(report)) : print(to_text(*arguments, report));
  });
}

}  // namespace stowage::cli
