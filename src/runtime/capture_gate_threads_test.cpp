#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/capture_gate.hpp"

namespace stowage::runtime {
namespace {

TEST(CaptureGate, LetsNobodyInWhileItIsClosed) {
  CaptureGate gate;
  EXPECT_TRUE(CaptureGate::Pass(gate).allowed());
  gate.begin_capture();
  gate.begin_capture();
  EXPECT_FALSE(CaptureGate::Pass(gate).allowed());
  gate.end_capture();
  EXPECT_FALSE(CaptureGate::Pass(gate).allowed()) << "of two captures one goes on";
  gate.end_capture();
  EXPECT_TRUE(CaptureGate::Pass(gate).allowed());
}

TEST(CaptureGate, ACaptureWaitsForThoseInside) {
  CaptureGate gate;
  std::atomic<bool> is_outside{false};
  std::thread capture;
  {
    const CaptureGate::Pass pass(gate);
    ASSERT_TRUE(pass.allowed());
    capture = std::thread([&] {
      gate.begin_capture();
      EXPECT_TRUE(is_outside);
      gate.end_capture();
    });
    while (!gate.is_closed()) std::this_thread::yield();
    EXPECT_FALSE(CaptureGate::Pass(gate).allowed()) << "those outside do not delay it";
    is_outside = true;
  }
  capture.join();
}

/// The gate may close between a thread's look at it and its counting itself in. Hence it looks twice. More threads than
/// processors, so that some are interrupted right there.
TEST(CaptureGate, NobodySlipsInWhileItCloses) {
  CaptureGate gate;
  std::atomic<bool> is_capturing{false};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < 4 * std::thread::hardware_concurrency(); ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const CaptureGate::Pass pass(gate);
        if (!pass.allowed()) std::this_thread::yield();  // to those who were interrupted
        if (pass.allowed() && is_capturing) ++wrong;
      }
    });
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (wrong == 0 && std::chrono::steady_clock::now() < end) {
    gate.begin_capture();
    is_capturing = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    is_capturing = false;
    gate.end_capture();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  stop = true;
  threads.clear();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace stowage::runtime
