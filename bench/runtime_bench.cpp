#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "exit.hpp"
#include "memory/interface/sim_device.hpp"
#include "pairs.hpp"
#include "replay/interface/lagged_device.hpp"
#include "sections.hpp"
#include "stowage/io.hpp"
#include "stowage/replay.hpp"
#include "stowage/runtime.hpp"
#include "table.hpp"

/// Run-time allocators: recorded traces, pairs of allocation and free, and threads. All on the simulated device, whose
/// calls are cheap, so that the comparison is of the allocators' own work.
namespace stowage::bench {
namespace {

constexpr std::uint32_t kLag = 256;

/// The C library's malloc, as a reference for time. It supports neither streams nor device memory.
class MallocAllocator final : public Allocator {
 public:
  [[nodiscard]] DeviceId device() const override { return cpu_device().id(); }
  [[nodiscard]] Bytes alignment() const override { return Bytes(16); }
  Result<std::byte*> allocate(Bytes size, StreamId) override {
    return static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(size.value())));
  }
  void free(std::byte* address, Bytes, StreamId) override { std::free(address); }
  Status record_use(std::byte*, StreamId) override { return Done{}; }
  Bytes trim() override { return Bytes(0); }
  [[nodiscard]] AllocatorStats stats() const override { return {}; }
  void reset_peaks() override {}
  [[nodiscard]] MemorySnapshot snapshot() const override { return {}; }
};

constexpr std::array kNames = {"caching", "stream", "plan-ahead", "torch-expandable", "torch-native", "malloc"};

std::unique_ptr<Allocator> make(std::string_view name, Device& device, const Trace& trace) {
  if (name == "malloc") return std::make_unique<MallocAllocator>();
  return value_or_exit(make_allocator(name, device, &trace));
}

bool is_of_one_stream(const Trace& trace) {
  return std::ranges::all_of(trace.events, [](const Trace::Event& event) { return event.stream == StreamId(0); });
}

/// The cost of reading the clock, in nanoseconds.
double clock_cost() {
  std::vector<double> costs;
  for (int i = 0; i < 10000; ++i) {
    const Clock::time_point start = Clock::now();
    costs.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return median(costs);
}

/// The median time per event in the third pass, without the cost of reading the clock.
double median_event(const Trace& trace, std::string_view name) {
  const std::unique_ptr<SimDevice> sim = SimDevice::make();
  replaying::LaggedDevice device(*sim, kLag);
  const std::unique_ptr<Allocator> allocator = make(name, device, trace);
  [[maybe_unused]] const ReplayReport warm = replaying::replay_with_clock(trace, *allocator, &device, {.passes = 2});
  std::vector<std::byte*> addresses(trace.allocations);
  std::vector<Trace::Event> made(trace.allocations);
  std::vector<double> times;
  for (const Trace::Event& event : trace.events) {
    device.advance();
    std::byte*& address = addresses[event.allocation];
    const Clock::time_point start = Clock::now();
    if (event.action == Trace::Action::allocate) {
      address = allocator->allocate(event.size, event.stream).value();
    } else {
      allocator->free(address, event.size, made[event.allocation].stream);
    }
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
    if (event.action == Trace::Action::allocate)
      made[event.allocation] = event;
    else
      address = nullptr;
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i] != nullptr) allocator->free(addresses[i], made[i].size, made[i].stream);
  }
  return median(times) - clock_cost();
}

void bench_traces(const Options& options) {
  Table table({"trace, allocator", "waste", "calls", "events per call", "ns per event, mean", "median"});
  for (const std::string& file : trace_files()) {
    const std::string name = file.substr(file.rfind('/') + 1);
    if (!options.selection.has(name)) continue;
    const Trace trace = value_or_exit(parse_trace(value_or_exit(read_file(file)), file));
    for (const std::string_view allocator_name : kNames) {
      if (allocator_name == "caching" && !is_of_one_stream(trace)) continue;
      const std::unique_ptr<SimDevice> sim = SimDevice::make();
      replaying::LaggedDevice device(*sim, kLag);
      const std::unique_ptr<Allocator> allocator = make(allocator_name, device, trace);
      const ReplayReport report = replaying::replay_with_clock(trace, *allocator, &device, {.passes = 2});
      const std::uint64_t calls = report.maps + report.unmaps + report.creates;
      table.add({fmt::format("{}, {}", name.substr(0, name.find('.')), allocator_name),
                 allocator_name == "malloc" ? "" : fmt::format("{:.2f}%", 100 * report.waste()),
                 fmt::format("{}", calls), calls == 0 ? "" : fmt::format("{}", report.events / calls),
                 fmt::format("{:.0f}", report.ns_per_event),
                 allocator_name == "plan-ahead" ? "" : fmt::format("{:.0f}", median_event(trace, allocator_name))});
    }
  }
  table.print();
}

void bench_pairs() {
  fmt::print("\nAn allocation and its free, ns:\n\n");
  Table table({"size", "caching", "stream", "torch-expandable", "torch-native", "malloc"});
  for (const std::int64_t size : {512LL, 64LL << 10, 2LL << 20, 32LL << 20, 512LL << 20}) {
    std::vector<std::string> row{to_human(Bytes(size))};
    for (const std::string_view name : {"caching", "stream", "torch-expandable", "torch-native", "malloc"}) {
      const std::unique_ptr<SimDevice> sim = SimDevice::make();
      const std::unique_ptr<Allocator> allocator = make(name, *sim, {});
      std::vector<double> times;
      for (int i = 0; i < 9; ++i) times.push_back(pair_time(*allocator, Bytes(size), StreamId(0), 20000));
      row.push_back(fmt::format("{:.0f}", median(times)));
    }
    table.add(std::move(row));
  }
  table.print();
}

void bench_threads() {
  constexpr StreamId kFirst{0};
  fmt::print(
      "\nThreads that repeatedly allocate and free one block; "
      "pairs per microsecond, median of seven runs of 60 ms:\n\n");
  Table table({"allocator, size", "1 thread", "2, own streams", "ratio", "2, one stream", "one allocates, one frees"});
  for (const std::string_view name : {"stream", "torch-native", "malloc"}) {
    for (const Bytes size : {Bytes(512), Bytes(1 << 20)}) {
      const std::unique_ptr<SimDevice> sim = SimDevice::make();
      const std::unique_ptr<Allocator> allocator = make(name, *sim, {});
      LockAdaptor locked(*allocator);
      Allocator& tested = name == "torch-native" ? static_cast<Allocator&>(locked) : *allocator;
      std::vector<double> one;
      std::vector<double> own;
      std::vector<double> shared;
      std::vector<double> handed;
      for (int i = 0; i < 7; ++i) {
        one.push_back(throughput(tested, size, {kFirst}));
        own.push_back(throughput(tested, size, {kFirst, StreamId(1)}));
        shared.push_back(throughput(tested, size, {kFirst, kFirst}));
        handed.push_back(boxed_throughput(tested, size, {kFirst}, Freer::another));
      }
      table.add({fmt::format("{}, {}", name, to_human(size)), fmt::format("{:.1f}", median(one)),
                 fmt::format("{:.1f}", median(own)), fmt::format("{:.2f}", median(own) / median(one)),
                 fmt::format("{:.1f}", median(shared)), fmt::format("{:.1f}", median(handed))});
    }
  }
  table.print();
}

}  // namespace

std::vector<Limited> bench_runtime(const Options& options) {
  fmt::print(
      "## Runtime\n\nRecorded traces, second pass, simulated device, lag {}; calls are creates, maps and unmaps.\n\n",
      kLag);
  bench_traces(options);
  bench_pairs();
  bench_threads();
  return {};
}

}  // namespace stowage::bench
