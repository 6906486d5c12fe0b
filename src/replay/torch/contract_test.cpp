#include "support/runtime/contract.hpp"

#include "stowage/replay.hpp"

/// Runs the reference allocators through the allocator contract, on the host and on a simulated device.
namespace stowage::runtime {
namespace {

AllocatorKind on_host(const std::string& test, const std::string& allocator) {
  return {test, [allocator] { return Subject{{}, make_allocator(allocator, cpu_device()).value()}; }, 3};
}

AllocatorKind on_limited_sim(const std::string& test, const std::string& allocator) {
  return {test,
          [allocator] {
            const std::shared_ptr<SimDevice> sim = SimDevice::make({.memory = Bytes(std::int64_t{1} << 30)});
            return Subject{sim, make_allocator(allocator, *sim).value(), sim.get()};
          },
          3};
}

INSTANTIATE_TEST_SUITE_P(Yardsticks, AllocatorContract,
                         ::testing::Values(on_host("native_on_cpu", "torch-native"),
                                           on_limited_sim("native_on_sim", "torch-native"),
                                           on_host("expandable_on_cpu", "torch-expandable"),
                                           on_limited_sim("expandable_on_sim", "torch-expandable"),
                                           on_host("buffers_on_cpu", "buffers"),
                                           on_limited_sim("buffers_on_sim", "buffers")),
                         kind_name);

}  // namespace
}  // namespace stowage::runtime
