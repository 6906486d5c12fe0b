#include <cstdlib>
#include <stdexcept>

#include <dlfcn.h>

#include "support/library.hpp"

namespace stowage::torch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

TEST_F(TorchTest, OutOfMemorySaysTheFigures) {
  configure(static_cast<std::int64_t>(16 * kMiB));
  void* const block = lib_.alloc(8 * kMiB, 0, nullptr);
  EXPECT_THAT(
      [&] { lib_.alloc(16 * kMiB, 0, nullptr); },
      ThrowsMessage<std::runtime_error>(AllOf(
          StartsWith("CUDA out of memory. Tried to allocate 16777216 bytes on device 0."), HasSubstr("8388608"))));
  lib_.free(block, 8 * kMiB, 0, nullptr);
  EXPECT_EQ(lib_.figure("failures"), 1);
  EXPECT_NE(lib_.alloc(16 * kMiB, 0, nullptr), nullptr);
}

TEST_F(TorchTest, BelowTorchsAllocatorOutOfMemoryIsNull) {
  configure(static_cast<std::int64_t>(16 * kMiB));
  EXPECT_EQ(lib_.alloc_or_null(17 * kMiB, 0, nullptr), nullptr);
}

TEST_F(TorchTest, MoreThanThereCanBeIsOutOfMemory) {
  EXPECT_ANY_THROW(lib_.alloc(SIZE_MAX, 0, nullptr));
  EXPECT_EQ(lib_.alloc_or_null(SIZE_MAX, 0, nullptr), nullptr);
}

/// Torch translates this class to Python's torch.OutOfMemoryError.
TEST_F(TorchTest, OutOfMemoryIsTorchsOwnExceptionWhereTorchIs) {
  static Library* library = nullptr;
  library = &lib_;
  void* const c10 = dlopen(STOWAGE_TEST_C10, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(c10, nullptr) << dlerror();
  const auto caught = reinterpret_cast<const char* (*)(void (*)())>(dlsym(c10, "fake_c10_catch"));
  const auto alive = reinterpret_cast<int (*)()>(dlsym(c10, "fake_c10_alive"));
  EXPECT_THAT(caught([] { library->alloc(SIZE_MAX, 0, nullptr); }),
              StartsWith("OutOfMemoryError: CUDA out of memory."));
  EXPECT_EQ(alive(), 0);
  EXPECT_THAT(caught([] { library->alloc(1, 99, nullptr); }), StartsWith("exception: Stowage, device 99:"));
  dlclose(c10);
}

TEST_F(TorchTest, WithoutADriverItSaysSo) {
  setenv("STOWAGE_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  EXPECT_THAT([&] { lib_.alloc(1, 0, nullptr); },
              ThrowsMessage<std::runtime_error>(HasSubstr("/nowhere/libcuda.so.1")));
}

TEST_F(TorchTest, OptionsComeBeforeTheFirstRequest) {
  lib_.free(lib_.alloc(1, 0, nullptr), 1, 0, nullptr);
  const StowageTorchOptions options{1 << 20, 0, 0};
  EXPECT_EQ(lib_.configure(&options), 1);
  EXPECT_THAT(lib_.last_error(), HasSubstr("before the first allocation"));
  EXPECT_THAT([&] { lib_.memory_fraction(0.5, 0); },
              ThrowsMessage<std::runtime_error>(HasSubstr("before the first allocation")));
}

TEST_F(TorchTest, ALimitBelowZeroIsRefused) {
  const StowageTorchOptions options{-1, 0, 0};
  EXPECT_EQ(lib_.configure(&options), 1);
}

TEST_F(TorchTest, AFractionOfTheMemoryLimitsADevice) {
  lib_.memory_fraction(1.0 / 1024, 0);  // of 8 GiB
  EXPECT_ANY_THROW(lib_.alloc(9 * kMiB, 0, nullptr));
  EXPECT_NE(lib_.alloc(8 * kMiB, 0, nullptr), nullptr);
  EXPECT_NE(lib_.alloc(9 * kMiB, 1, nullptr), nullptr);
  EXPECT_ANY_THROW(lib_.memory_fraction(1.5, 1));
}

/// The environment is read at the first call.
class WithVariable {
 public:
  WithVariable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~WithVariable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST_F(TorchTest, TheEnvironmentLimits) {
  const WithVariable limit("STOWAGE_TORCH_LIMIT", "8388608");
  EXPECT_EQ(lib_.alloc_or_null(9 * kMiB, 0, nullptr), nullptr);
}

TEST_F(TorchTest, AnEnvironmentThatMakesNoSenseIsSaid) {
  const WithVariable limit("STOWAGE_TORCH_LIMIT", "8GB");
  EXPECT_THAT([&] { lib_.alloc(1, 0, nullptr); },
              ThrowsMessage<std::runtime_error>(HasSubstr("STOWAGE_TORCH_LIMIT=8GB")));
}

}  // namespace
}  // namespace stowage::torch
