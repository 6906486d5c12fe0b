#include "support/library.hpp"

#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

namespace stowage::torch {
namespace {

/// Loads a copy under a new name: the loader treats it as another library, with its own state.
void* load_copy() {
  static int count = 0;
  const std::filesystem::path copy =
      std::filesystem::temp_directory_path() / fmt::format("libstowage_torch_{}_{}.so", getpid(), count++);
  std::filesystem::copy_file(STOWAGE_TEST_TORCH, copy, std::filesystem::copy_options::overwrite_existing);
  void* const handle = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove(copy);
  STOWAGE_CHECK(handle != nullptr, "libstowage_torch.so cannot be loaded");
  return handle;
}

template <class F>
void bind(void* handle, F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  STOWAGE_CHECK(function != nullptr, name);
}

}  // namespace

Library::Library() : handle(load_copy()) {
  bind(handle, configure, "stowage_torch_configure");
  bind(handle, last_error, "stowage_torch_last_error");
  bind(handle, alloc, "stowage_torch_alloc");
  bind(handle, alloc_or_null, "stowage_torch_alloc_or_null");
  bind(handle, free, "stowage_torch_free");
  bind(handle, record_stream, "stowage_torch_record_stream");
  bind(handle, begin_pool, "stowage_torch_begin_pool");
  bind(handle, end_pool, "stowage_torch_end_pool");
  bind(handle, release_pool, "stowage_torch_release_pool");
  bind(handle, empty_cache, "stowage_torch_empty_cache");
  bind(handle, memory_fraction, "stowage_torch_memory_fraction");
  bind(handle, stats_into, "stowage_torch_stats");
  bind(handle, reset_peaks, "stowage_torch_reset_peaks");
  bind(handle, snapshot, "stowage_torch_snapshot");
  bind(handle, begin_iteration, "stowage_torch_begin_iteration");
  bind(handle, end_iteration, "stowage_torch_end_iteration");
}

std::string Library::stats(int device) const {
  std::string text(stats_into(device, nullptr, 0) + 1, '\0');
  text.resize(stats_into(device, text.data(), text.size()));
  return text;
}

std::int64_t Library::figure(const std::string& name, int device) const {
  const std::string text = stats(device);
  const std::size_t at = text.find(fmt::format("\"{}\":", name));
  return at == std::string::npos ? -1 : std::strtoll(text.c_str() + at + name.size() + 3, nullptr, 10);
}

TorchTest::TorchTest() : driver_(memory::cuda::fake_driver()) {
  driver_.reset();
  setenv("STOWAGE_CUDA_DRIVER", STOWAGE_TEST_CUDA, 1);
}

TorchTest::~TorchTest() {
  for (std::unique_ptr<CudaDevice>& owner : owners_) owner.reset();
  EXPECT_THAT(driver_.violations(), ::testing::IsEmpty());
  driver_.drop_objects();
}

CudaDevice& TorchTest::owner(int device) {
  std::unique_ptr<CudaDevice>& owner = owners_[device];
  if (owner == nullptr) {
    owner = CudaDevice::make(
                {.ordinal = device, .id = DeviceId(40U + static_cast<unsigned>(device)), .driver = STOWAGE_TEST_CUDA})
                .value();
  }
  return *owner;
}

void TorchTest::configure(std::int64_t limit, int plan_ahead, int checks) const {
  const StowageTorchOptions options{limit, plan_ahead, checks};
  ASSERT_EQ(lib_.configure(&options), 0) << lib_.last_error();
}

std::uint64_t TorchTest::forbidden_calls() const {
  std::uint64_t sum = 0;
  for (const char* const name : {"cuEventQuery", "cuStreamSynchronize", "cuStreamWaitEvent", "cuMemUnmap"}) {
    sum += driver_.calls(name);
  }
  return sum;
}

}  // namespace stowage::torch
