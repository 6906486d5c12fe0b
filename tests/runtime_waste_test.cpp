#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/io.hpp"
#include "stowage/replay.hpp"
#include "stowage/runtime/stream_allocator.hpp"
#include "support/data.hpp"
#include "support/environment.hpp"
#include "support/runtime/workload.hpp"

namespace stowage {
namespace {

/// Recorded traces, and what PyTorch's expandable segments wasted on them.
struct Recorded {
  std::string trace;
  double expandable;
};

class RuntimeWaste : public ::testing::TestWithParam<Recorded> {};

TEST_P(RuntimeWaste, TheSecondPassWastesLittleAndHardlyCallsTheDevice) {
  const auto data = testing::data_dir();
  if (!data) GTEST_SKIP() << "NO DATA: there are no recorded traces (set STOWAGE_DATA)";
  const std::string file = (*data / "traces" / (GetParam().trace + ".csv.gz")).string();
  const Trace trace = parse_trace(read_file(file).value(), file).value();
  const std::unique_ptr<SimDevice> sim = SimDevice::make();
  const ReplayReport report = replay(trace, "stream", *sim, {.passes = 2, .lag = 256}).value();
  EXPECT_EQ(report.failures, 0U);
  EXPECT_LE(report.waste(), 0.03);
  EXPECT_LE(report.waste(), GetParam().expandable + 0.005);
  EXPECT_LE((report.maps + report.unmaps) * 500, report.events);
  EXPECT_TRUE(sim->violations().empty());
}

INSTANTIATE_TEST_SUITE_P(Traces, RuntimeWaste,
                         ::testing::Values(Recorded{"gpt2_train_varlen", 0.066}, Recorded{"llama_generate", 0.029},
                                           Recorded{"resnet50_train_varsize", 0.013},
                                           Recorded{"bert_serve_varlen", 0.153}, Recorded{"multi_model_serve", 0.183}),
                         [](const auto& each) { return each.param.trace; });

/// With 95 to 100% of the memory in use, and the requested number of events at each percentage.
TEST(RuntimeLimit, NoFalseRefusalOverManyEvents) {
  if (cpu_device().virtual_memory() == nullptr) GTEST_SKIP() << "this system has no memfd";
  constexpr Bytes kLimit{std::int64_t{8} << 20};
  const std::uint64_t events = testing::from_environment("STOWAGE_PROPERTY_PROBLEMS", 10000);
  for (std::uint32_t percent = 95; percent <= 100; ++percent) {
    StreamAllocator allocator(cpu_device(), {.least_page = Bytes(32 << 10), .limit = kLimit, .checks = Checks::off});
    runtime::MarkedWorkload workload(allocator, {.budget = Bytes(kLimit.value() / 100 * percent),
                                                 .largest = Bytes(kLimit.value() / 8),
                                                 .streams = 4,
                                                 .seed = percent});
    const auto outcome = workload.run(events, [&](Bytes size, const Error& error) {
      ASSERT_EQ(error.code, ErrorCode::out_of_memory) << error.message;
      ASSERT_LT(kLimit - allocator.stats().reserved, size) << error.message;
    });
    EXPECT_GT(outcome.granted, events / 10) << percent;
  }
}

}  // namespace
}  // namespace stowage
