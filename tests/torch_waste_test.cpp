#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/io.hpp"
#include "stowage/replay.hpp"
#include "support/data.hpp"

namespace stowage {
namespace {

/// What PyTorch itself wasted when the traces were recorded (torch 2.11 on one H200): 1 - peak requested / peak
/// reserved.
struct Recorded {
  std::string trace;
  double native;
  double expandable;
};

class TorchWaste : public ::testing::TestWithParam<Recorded> {
 protected:
  void SetUp() override {
    const auto data = testing::data_dir();
    if (!data) GTEST_SKIP() << "NO DATA: there are no recorded traces (set STOWAGE_DATA)";
    const std::string file = (*data / "traces" / (GetParam().trace + ".csv.gz")).string();
    trace_ = parse_trace(read_file(file).value(), file).value();
  }

  ReplayReport replayed(std::string_view allocator, std::uint32_t passes) {
    const std::unique_ptr<SimDevice> sim = SimDevice::make();
    return replay(trace_, allocator, *sim, {.passes = passes, .lag = 256}).value();
  }

  Trace trace_;
};

/// The models never return memory by themselves, so the second pass reserves what the first did.
TEST_P(TorchWaste, TheModelsWasteWhatPyTorchDid) {
  for (const std::uint32_t passes : {1U, 2U}) {
    EXPECT_NEAR(replayed("torch-native", passes).waste(), GetParam().native, 0.002) << passes;
    EXPECT_NEAR(replayed("torch-expandable", passes).waste(), GetParam().expandable, 0.002) << passes;
  }
}

TEST_P(TorchWaste, NothingFailsAndTheSecondPassAsksTheDeviceForNothing) {
  for (const std::string_view name : {"torch-native", "torch-expandable"}) {
    const ReplayReport report = replayed(name, 2);
    EXPECT_EQ(report.failures, 0U);
    EXPECT_EQ(report.creates + report.maps + report.unmaps, 0U) << name;
    EXPECT_EQ(report.peak_requested, peak_requested(trace_));
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, TorchWaste,
                         ::testing::Values(Recorded{"gpt2_train_varlen", 0.184, 0.066},
                                           Recorded{"llama_generate", 0.090, 0.029},
                                           Recorded{"resnet50_train_varsize", 0.164, 0.013},
                                           Recorded{"bert_serve_varlen", 0.545, 0.153},
                                           Recorded{"multi_model_serve", 0.464, 0.183}),
                         [](const auto& each) { return each.param.trace; });

}  // namespace
}  // namespace stowage
