#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/plan_ahead.hpp"
#include "support/runtime/fallback.hpp"

/// Random programs that more or less repeat themselves, on a device whose streams lag. A kernel fills every block when
/// it is allocated, and another reads it before it is freed, whenever the device gets to them. If the allocator gives
/// out bytes twice, or to a stream too early, the reader sees foreign bytes.
namespace stowage {
namespace {

using ::testing::IsEmpty;
using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t end) {
  return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
}

/// An iteration of a program: allocations in order, and after which of them each one is freed.
struct Allocation {
  Bytes size;
  StreamId stream;
  std::size_t freed_after = 0;
};
using Iteration = std::vector<Allocation>;

Iteration random_iteration(Random& random, std::size_t streams) {
  Iteration iteration(20 + below(random, 60));
  const std::size_t burst = 1 + below(random, 12);
  std::size_t stream = 0;
  for (std::size_t i = 0; i < iteration.size(); ++i) {
    if (i % burst == 0) stream = below(random, streams);
    const Bytes size(64 * static_cast<std::int64_t>(1 + below(random, below(random, 4) == 0 ? 40 : 6)));
    iteration[i] = {size, StreamId(stream), i + below(random, below(random, 6) == 0 ? iteration.size() : 5)};
  }
  return iteration;
}

enum class Deviation : std::uint8_t { none, few, many };

Iteration deviate(Iteration iteration, Random& random, Deviation deviation, std::size_t streams) {
  if (deviation == Deviation::none) return iteration;
  const std::size_t changes = deviation == Deviation::few ? 1 + below(random, 3) : iteration.size() / 2;
  for (std::size_t i = 0; i < changes && !iteration.empty(); ++i) {
    const std::size_t at = below(random, iteration.size());
    const auto here = iteration.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(random, 6)) {
      case 0:
        iteration.erase(here);
        break;
      case 1:
        iteration.insert(here, {Bytes(64 * static_cast<std::int64_t>(1 + below(random, 20))), here->stream, at});
        break;
      case 2:
        here->size = Bytes(64 * static_cast<std::int64_t>(1 + below(random, 20)));
        break;
      case 3:
        here->freed_after += below(random, 2 * iteration.size());
        break;  // perhaps freed in a later iteration
      case 4:
        here->stream = StreamId(below(random, streams));
        break;
      default:
        std::swap(iteration[at], iteration[below(random, iteration.size())]);
        break;
    }
  }
  return iteration;
}

/// Runs a program with an allocator and checks every block.
class Shadow {
 public:
  Shadow(SimDevice& device, PlanAheadAllocator& allocator, Random& random, std::size_t streams)
      : device_(device), allocator_(allocator), random_(random), streams_(streams) {}

  void run(const Iteration& iteration) {
    for (std::size_t i = 0; i < iteration.size(); ++i) {
      allocate(iteration[i], i);
      free_due(i);
      if (below(random_, 3) == 0) device_.finish(StreamId(below(random_, streams_)), 1 + below(random_, 4));
    }
    for (auto& [address, block] : live_) block.freed_after -= std::min(block.freed_after, iteration.size());
  }

  void free_all() { free_due(~std::size_t{0}); }
  [[nodiscard]] const std::vector<std::string>& faults() const { return *faults_; }

 private:
  struct Block {
    Bytes size;
    StreamId stream;
    std::size_t freed_after = 0;
    std::byte tag{};
  };

  void allocate(const Allocation& wanted, std::size_t) {
    std::byte* const address = allocator_.allocate(wanted.size, wanted.stream).value();
    const auto next = live_.lower_bound(address);
    const bool meets_next = next != live_.end() && address + wanted.size.value() > next->first;
    const bool meets_previous =
        next != live_.begin() && std::prev(next)->first + std::prev(next)->second.size.value() > address;
    if (meets_next || meets_previous) faults_->push_back("two live blocks share bytes");
    const Block block{wanted.size, wanted.stream, wanted.freed_after, static_cast<std::byte>(++tag_ & 0xff)};
    live_[address] = block;
    ASSERT_TRUE(device_.launch_kernel(
        block.stream, {.outputs = {{address, block.size}}, .compute = [tag = block.tag](auto, auto out) {
                         std::fill(out[0].begin(), out[0].end(), tag);
                       }}));
  }

  void read(std::byte* address, const Block& block, StreamId stream) {
    ASSERT_TRUE(device_.launch_kernel(
        stream, {.inputs = {{address, block.size}}, .compute = [tag = block.tag, faults = faults_](auto in, auto) {
                   if (std::count(in[0].begin(), in[0].end(), tag) != std::ssize(in[0])) {
                     faults->push_back("a block has lost its bytes");
                   }
                 }}));
  }

  void free_due(std::size_t now) {
    for (auto entry = live_.begin(); entry != live_.end();) {
      const auto [address, block] = *entry;
      if (block.freed_after > now) {
        ++entry;
        continue;
      }
      if (below(random_, 8) == 0) use_elsewhere(address, block);
      read(address, block, block.stream);
      allocator_.free(address, block.size, block.stream);
      entry = live_.erase(entry);
    }
  }

  /// Another stream also reads the block, after the one that wrote it.
  void use_elsewhere(std::byte* address, const Block& block) {
    const StreamId other(below(random_, streams_));
    const EventId written = device_.record(block.stream).value();
    ASSERT_TRUE(device_.wait(other, written));
    device_.forget(written);
    read(address, block, other);
    ASSERT_TRUE(allocator_.record_use(address, other));
  }

  SimDevice& device_;
  PlanAheadAllocator& allocator_;
  Random& random_;
  std::size_t streams_;
  std::map<std::byte*, Block> live_;
  unsigned tag_ = 0;
  std::shared_ptr<std::vector<std::string>> faults_ = std::make_shared<std::vector<std::string>>();
};

struct Family {
  std::string name;
  std::size_t streams = 1;
  Deviation deviation = Deviation::none;
};

class PlanAheadProperty : public ::testing::TestWithParam<Family> {
 protected:
  /// Runs one program; returns what the plan did for it.
  static PlanAheadCounts run(std::uint64_t seed) {
    Random random(seed);
    const Family& family = GetParam();
    const auto device = SimDevice::make({.alignment = Bytes(64), .granularity = Bytes(1024)});
    PlanAheadCounts counts;
    {
      runtime::TestFallback fallback(*device);
      const auto allocator =
          PlanAheadAllocator::make(*device, fallback,
                                   {.time_limit = {},
                                    .node_budget = 1000,
                                    .window = 16,
                                    .handover_distance = static_cast<std::uint32_t>(below(random, 20))})
              .value();
      Shadow shadow(*device, *allocator, random, family.streams);
      const Iteration iteration = random_iteration(random, family.streams);
      for (int i = 0; i < 6; ++i) {
        allocator->begin_iteration();
        shadow.run(i == 0 ? iteration : deviate(iteration, random, family.deviation, family.streams));
        if (family.deviation == Deviation::none) shadow.free_all();
        allocator->end_iteration();
      }
      shadow.free_all();
      device->finish_all();
      EXPECT_THAT(shadow.faults(), IsEmpty()) << "seed " << seed;
      EXPECT_EQ(allocator->stats().requested, Bytes(0)) << "seed " << seed;
      EXPECT_EQ(allocator->stats().live, 0U) << "seed " << seed;
      counts = allocator->counts();
    }
    EXPECT_EQ(device->live_objects(), 0U) << "seed " << seed;
    EXPECT_THAT(device->violations(), IsEmpty()) << "seed " << seed;
    return counts;
  }
};

INSTANTIATE_TEST_SUITE_P(
    Programs, PlanAheadProperty,
    ::testing::Values(Family{"one_stream", 1, Deviation::none}, Family{"three_streams", 3, Deviation::none},
                      Family{"one_stream_few", 1, Deviation::few}, Family{"three_streams_few", 3, Deviation::few},
                      Family{"one_stream_many", 1, Deviation::many}, Family{"seven_streams_many", 7, Deviation::many}),
    [](const auto& family) { return family.param.name; });

TEST_P(PlanAheadProperty, NoTwoLiveBlocksShareAByteAndAllKeepTheirBytes) {
  std::uint64_t served = 0;
  std::uint64_t all = 0;
  for (std::uint64_t seed = 1; seed <= 150 && !HasFailure(); ++seed) {
    const PlanAheadCounts counts = run(seed);
    ASSERT_EQ(counts.plans, 1U) << "seed " << seed;
    served += counts.served;
    all += counts.served + counts.unplanned + counts.deviated + counts.blocked;
    if (GetParam().deviation == Deviation::none) {
      ASSERT_EQ(counts.deviated + counts.blocked, 0U) << "seed " << seed;
    }
  }
  RecordProperty("served", std::to_string(served));
  RecordProperty("all", std::to_string(all));
  EXPECT_GT(served, all / 8) << "this must test the plan, not the fallback";
}

}  // namespace
}  // namespace stowage
