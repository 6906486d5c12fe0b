#include "stowage/base/check_guard.hpp"

#include <string>

#include <gtest/gtest.h>

namespace stowage::detail {
namespace {

TEST(CheckGuard, TurnsAFailedCheckIntoAnException) {
  std::string message;
  try {
    const CheckGuard guard;
    const CheckGuard nested;
    STOWAGE_CHECK(1 > 2, "numbers changed");
  } catch (const CheckFailure& failure) {
    message = failure.what();
  }
  EXPECT_NE(message.find("numbers changed (1 > 2)"), std::string::npos) << message;
}

TEST(CheckGuardDeathTest, AFailedCheckAbortsOnceTheGuardIsGone) {
  {
    const CheckGuard guard;
  }
  EXPECT_DEATH(STOWAGE_CHECK(1 > 2, "numbers changed"), "numbers changed");
}

}  // namespace
}  // namespace stowage::detail
