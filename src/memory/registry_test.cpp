#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/memory.hpp"

namespace stowage {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

TEST(DeviceRegistry, ListsEveryKindWithALineForPeople) {
  std::vector<std::string_view> names;
  for (const DeviceInfo& info : devices()) {
    names.push_back(info.name);
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_EQ(info.in_build, info.summary.find("not in this build") == std::string_view::npos) << info.name;
  }
  EXPECT_THAT(names, IsSupersetOf({"cpu", "sim", "cuda"}));
}

TEST(DeviceRegistry, TheCpuIsAlwaysTheSameOne) {
  EXPECT_EQ(open_device("cpu").value().get(), &cpu_device());
  EXPECT_EQ(open_device("cpu").value().get(), &cpu_device());
}

TEST(DeviceRegistry, TheMemoryOfSimCanBeLimited) {
  const std::shared_ptr<Device> sim = open_device("sim", {.memory = Bytes(1024)}).value();
  EXPECT_TRUE(sim->buffer_type().allocate(Bytes(1024)));
  EXPECT_EQ(sim->buffer_type().allocate(Bytes(1025)).error().code, ErrorCode::out_of_memory);
}

TEST(DeviceRegistry, AnUnknownNameOrOptionIsAnError) {
  EXPECT_EQ(open_device("tape").error().code, ErrorCode::unknown_name);
  const std::string message = open_device("tape").error().message;
  EXPECT_THAT(message, HasSubstr("there is no device 'tape'; the devices are cpu, "));
  for (const DeviceInfo& info : devices()) EXPECT_THAT(message, HasSubstr(info.name));
  EXPECT_EQ(open_device("cpu", {.memory = Bytes(1)}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(open_device("cpu", {.ordinal = 1}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(open_device("sim", {.ordinal = 1}).error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace stowage
