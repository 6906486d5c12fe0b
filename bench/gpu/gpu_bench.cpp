#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fmt/format.h>

#include "exit.hpp"
#include "pairs.hpp"
#include "stowage/io.hpp"
#include "stowage/memory/cuda.hpp"
#include "stowage/replay.hpp"
#include "stowage/runtime.hpp"
#include "table.hpp"

/// Compares allocators on a GPU, in one process: hits, threads, frees by other threads, and recorded traces.
namespace stowage::bench {
namespace {

/// The same type as in bench/gpu/peers.cpp.
struct Peer {
  const char* name;
  void* (*allocate)(std::size_t, ::CUstream_st*);
  void (*free)(void*, ::CUstream_st*);
};

class PeerAllocator final : public Allocator {
 public:
  PeerAllocator(const Peer& peer, CudaDevice& device, std::size_t streams) : peer_(peer), device_(device) {
    for (std::size_t i = 0; i < streams; ++i) native_.push_back(value_or_exit(device.native(StreamId(i))));
  }

  [[nodiscard]] DeviceId device() const override { return device_.id(); }
  [[nodiscard]] Bytes alignment() const override { return Bytes(256); }
  Result<std::byte*> allocate(Bytes size, StreamId stream) override {
    return static_cast<std::byte*>(peer_.allocate(static_cast<std::size_t>(size.value()), native_[stream.index()]));
  }
  void free(std::byte* address, Bytes, StreamId stream) override { peer_.free(address, native_[stream.index()]); }
  Status record_use(std::byte*, StreamId) override { return Done{}; }
  Bytes trim() override { return Bytes(0); }
  [[nodiscard]] AllocatorStats stats() const override { return {}; }
  void reset_peaks() override {}
  [[nodiscard]] MemorySnapshot snapshot() const override { return {}; }

 private:
  const Peer peer_;
  CudaDevice& device_;
  std::vector<::CUstream_st*> native_;
};

constexpr std::size_t kThreads = 8;

std::vector<StreamId> first_streams(std::size_t count) {
  std::vector<StreamId> streams;
  for (std::size_t i = 0; i < count; ++i) streams.emplace_back(i);
  return streams;
}

struct Contender {
  std::string name;
  std::unique_ptr<Allocator> allocator;
  bool is_slow = false;  ///< Every call goes to the driver: fewer repetitions.
  bool takes_threads = true;
};

std::vector<Contender> contenders(CudaDevice& device, const std::string& library) {
  std::vector<Contender> all;
  all.push_back({"caching", std::make_unique<CachingAllocator>(device), false, false});
  all.push_back({"stream", std::make_unique<StreamAllocator>(device)});
  if (library.empty()) return all;
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) exit_with({ErrorCode::invalid, fmt::format("{}", dlerror()), {}});
  const auto peers = reinterpret_cast<const Peer* (*)()>(dlsym(handle, "stowage_peers"));
  if (peers == nullptr) exit_with({ErrorCode::invalid, library + " has no stowage_peers", {}});
  for (const Peer* peer = peers(); peer->name != nullptr; ++peer) {
    const bool is_slow = std::string_view(peer->name) == "cudaMalloc";
    all.push_back({peer->name, std::make_unique<PeerAllocator>(*peer, device, kThreads), is_slow, !is_slow});
  }
  return all;
}

std::vector<std::string> names_of(std::string first, std::span<const Contender> all) {
  std::vector<std::string> header{std::move(first)};
  for (const Contender& each : all) header.push_back(each.name);
  return header;
}

/// Number of calls to the driver.
std::uint64_t driver_calls(const Allocator& allocator) {
  const AllocatorStats stats = allocator.stats();
  return stats.creates + stats.releases + stats.maps + stats.unmaps + stats.access_calls + stats.event_waits;
}

void bench_hits(std::span<const Contender> all) {
  fmt::print("An allocation and its free, ns, median of nine; and the number of driver calls that ours made:\n\n");
  std::vector<std::string> header = names_of("size", all);
  header.emplace_back("calls");
  Table table(std::move(header));
  for (std::int64_t size = 512; size <= std::int64_t{512} << 20; size *= 4) {
    std::vector<std::string> row{to_human(Bytes(size))};
    std::uint64_t calls = 0;
    for (const Contender& each : all) {
      pair_time(*each.allocator, Bytes(size), StreamId(0), 10);
      const std::uint64_t before = driver_calls(*each.allocator);
      std::vector<double> times;
      for (int i = 0; i < 9; ++i)
        times.push_back(pair_time(*each.allocator, Bytes(size), StreamId(0), each.is_slow ? 50 : 20000));
      row.push_back(fmt::format("{:.0f}", median(times)));
      calls += driver_calls(*each.allocator) - before;
    }
    row.push_back(fmt::format("{}", calls));
    table.add(std::move(row));
  }
  table.print();
}

/// Replaces our allocator by a new one, so that each row begins with the same heaps.
Allocator& fresh(CudaDevice& device, Contender& each) {
  if (each.name == "stream") {
    each.allocator.reset();
    each.allocator = std::make_unique<StreamAllocator>(device);
  }
  return *each.allocator;
}

/// The median of the ratios of consecutive measurements, because machines change their speed during a benchmark.
double median_ratio(std::span<const double> numerators, std::span<const double> denominators) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < numerators.size(); ++i) ratios.push_back(numerators[i] / denominators[i]);
  return median(std::move(ratios));
}

void bench_threads(CudaDevice& device, std::span<Contender> all) {
  fmt::print(
      "Pairs per microsecond, median of seven runs of 60 ms. In boxes: 128 allocations, then 128 frees, by the same "
      "thread or by another one.\n\n");
  Table table({"allocator, size", "1 thread", "8, own streams", "ratio", "1, in boxes", "8, all remote", "ratio",
               "8, one stream"});
  for (Contender& each : all) {
    if (!each.takes_threads) continue;
    for (const Bytes size : {Bytes(512), Bytes(64 << 10), Bytes(2 << 20)}) {
      Allocator& allocator = fresh(device, each);
      const std::vector<StreamId> streams = first_streams(kThreads);
      std::vector<double> one;
      std::vector<double> own;
      std::vector<double> boxed;
      std::vector<double> remote;
      std::vector<double> shared;
      for (std::size_t i = 0; i < 7; ++i) {
        one.push_back(throughput(allocator, size, {streams[i]}, i));
        own.push_back(throughput(allocator, size, streams));
      }
      for (std::size_t i = 0; i < 7; ++i) {
        boxed.push_back(boxed_throughput(allocator, size, {streams[i]}, Freer::itself, i));
        remote.push_back(boxed_throughput(allocator, size, streams, Freer::another));
        shared.push_back(throughput(allocator, size, std::vector<StreamId>(kThreads, streams[0])));
      }
      table.add({fmt::format("{}, {}", each.name, to_human(size)), fmt::format("{:.2f}", median(one)),
                 fmt::format("{:.2f}", median(own)), fmt::format("{:.2f}", median_ratio(own, one)),
                 fmt::format("{:.2f}", median(boxed)), fmt::format("{:.2f}", median(remote)),
                 fmt::format("{:.2f}", median_ratio(remote, boxed)), fmt::format("{:.2f}", median(shared))});
    }
  }
  table.print();
}

void bench_traces(CudaDevice& device, std::span<char* const> files) {
  fmt::print("Recorded traces, second pass:\n\n");
  Table table({"trace, allocator", "waste", "reserved MiB", "maps and unmaps", "ns per event, mean"});
  for (const std::string file : files) {
    const Trace trace = value_or_exit(parse_trace(value_or_exit(read_file(file)), file));
    for (const std::string_view name : {"stream", "plan-ahead"}) {
      const ReplayReport report = value_or_exit(replay(trace, name, device, {.passes = 2}));
      table.add({fmt::format("{}, {}", file.substr(file.rfind('/') + 1), name),
                 fmt::format("{:.2f}%", 100 * report.waste()), fmt::format("{}", report.peak_reserved.value() >> 20),
                 fmt::format("{}", report.maps + report.unmaps), fmt::format("{:.0f}", report.ns_per_event)});
    }
  }
  table.print();
}

int run(std::span<char* const> arguments) {
  std::string library;
  while (arguments.size() >= 2 && std::string_view(arguments[0]).starts_with("--")) {
    const std::string_view option = arguments[0];
    if (option == "--peers") library = arguments[1];
    if (option == "--stride") core_stride = std::strtoull(arguments[1], nullptr, 10);
    arguments = arguments.subspan(2);
  }
  const std::unique_ptr<CudaDevice> device = value_or_exit(CudaDevice::make());
  fmt::print("{}, {} of memory.\n\n", device->info().name, to_human(device->info().memory));
  {
    std::vector<Contender> all = contenders(*device, library);
    bench_hits(all);
    bench_threads(*device, all);
  }
  bench_traces(*device, arguments);
  return 0;
}

}  // namespace
}  // namespace stowage::bench

/// stowage_gpu_bench [--peers LIBRARY] [--stride N] [TRACE…]: with a stride, thread i runs on core i * N.
int main(int argc, char** argv) { return stowage::bench::run({argv + 1, argv + argc}); }
