#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "stowage/report/memory_snapshot.hpp"

/// Writes a snapshot of two devices to stdout; pickle_test.py checks its content.
namespace {

using namespace stowage;
using State = MemorySnapshot::BlockState;

std::byte* at(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

std::vector<MemorySnapshot> sample() {
  constexpr std::uintptr_t kFirst = 0x7f0000000000;
  constexpr std::uintptr_t kStitched = 0x7f1000000000;
  constexpr std::int64_t kPage = 32 << 20;
  MemorySnapshot first{DeviceId(0), {}};
  first.segments.push_back({at(kFirst),
                            Bytes(kPage),
                            StreamId(0),
                            false,
                            {{at(kFirst), Bytes(4096), Bytes(4000), State::live},
                             {at(kFirst + 4096), Bytes(8192), Bytes(8192), State::pending},
                             {at(kFirst + 12288), Bytes(kPage - 12288), Bytes(0), State::idle}}});
  first.segments.push_back(
      {at(kStitched), Bytes(4096), StreamId(7), true, {{at(kStitched), Bytes(4096), Bytes(1), State::live}}});
  MemorySnapshot third{DeviceId(2), {}};
  third.segments.push_back({at(0x1000), Bytes(0), StreamId(0), false, {}});
  for (std::uintptr_t i = 0; i < 1500; ++i) {  // more than one batch of a pickled list
    third.segments.back().blocks.push_back({at(0x1000 + 512 * i), Bytes(512), Bytes(500), State::live});
    third.segments.back().size += Bytes(512);
  }
  return {first, third};
}

}  // namespace

int main() {
  const std::string pickle = snapshot_to_pickle(sample());
  return std::fwrite(pickle.data(), 1, pickle.size(), stdout) == pickle.size() ? 0 : 1;
}
