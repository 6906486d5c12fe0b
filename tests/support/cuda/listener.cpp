/// Linked into a test program, it fails every test after which the fake driver reports misuse or leaked objects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cuda/load.hpp"

namespace stowage::memory::cuda {
namespace {

class FakeDriverListener final : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override { fake_driver().reset(); }

  void OnTestEnd(const ::testing::TestInfo&) override {
    EXPECT_THAT(fake_driver().violations(), ::testing::IsEmpty());
    EXPECT_THAT(fake_driver().live_objects(), ::testing::IsEmpty());
    fake_driver().drop_objects();
  }
};

[[maybe_unused]] const bool kListening = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new FakeDriverListener);  // which owns it
  return true;
}();

}  // namespace
}  // namespace stowage::memory::cuda
