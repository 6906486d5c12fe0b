#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "out_of_memory_error.hpp"
#include "stowage/report/memory_snapshot.hpp"
#include "stowage_torch.hpp"
#include "torch_device.hpp"

namespace stowage::torch {
namespace {

constexpr std::size_t kDevices = 64;  // c10's limit

/// The devices made so far. Nothing in it is ever destroyed.
struct Registry {
  SettingsTable settings;
  std::mutex mutex;  ///< Held while a device is made.
  std::array<std::atomic<TorchDevice*>, kDevices> devices{};
};

Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

TorchDevice* find(int ordinal) {
  if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= kDevices) return nullptr;
  return registry().devices[static_cast<std::size_t>(ordinal)].load(std::memory_order_acquire);
}

Result<TorchDevice*> find_or_make(int ordinal) {
  if (TorchDevice* const device = find(ordinal)) return device;
  if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= kDevices) {
    return Error{ErrorCode::invalid, fmt::format("there is no device {}", ordinal), {}};
  }
  const std::lock_guard lock(registry().mutex);
  if (TorchDevice* const device = find(ordinal)) return device;
  STOWAGE_TRY(std::unique_ptr<TorchDevice> made, TorchDevice::make(ordinal, registry().settings));
  registry().devices[static_cast<std::size_t>(ordinal)].store(made.get(), std::memory_order_release);
  return made.release();
}

template <class Visit>
void visit_devices(const Visit& visit) {
  for (const std::atomic<TorchDevice*>& each : registry().devices) {
    if (TorchDevice* const device = each.load(std::memory_order_acquire)) visit(*device);
  }
}

thread_local std::string last_error;

int answer(const Status& status) {
  last_error = status ? std::string() : status.error().message;
  return status ? 0 : 1;
}

[[noreturn]] void raise(const Error& error, int device, std::size_t size) {
  if (error.code == ErrorCode::out_of_memory) {
    throw_out_of_memory(fmt::format("CUDA out of memory. Tried to allocate {} bytes on device {}. Stowage: {}", size,
                                    device, error.message));
  }
  throw std::runtime_error(fmt::format("Stowage, device {}: {}", device, error.message));
}

void raise_unless(const Status& status) {
  if (!status) throw std::runtime_error("Stowage: " + status.error().message);
}

/// Sizes that exceed Bytes exceed any memory too, so they are clamped.
Bytes bytes_of(std::size_t size) {
  return size > static_cast<std::size_t>(kMaxBytes.value()) ? kMaxBytes : Bytes(static_cast<std::int64_t>(size));
}

Status write_snapshot(const char* path) {
  std::vector<MemorySnapshot> snapshots;
  visit_devices([&](const TorchDevice& device) { device.snapshot(snapshots); });
  const std::string pickle = snapshot_to_pickle(snapshots);
  std::ofstream file(path, std::ios::binary);
  file.write(pickle.data(), static_cast<std::streamsize>(pickle.size()));
  file.close();
  if (!file) return Error{ErrorCode::io, fmt::format("cannot write {}", path), {}};
  return Done{};
}

template <class Each>
Status on_devices(const Each& each) {
  Status all = Done{};
  visit_devices([&](TorchDevice& device) {
    if (Status status = each(device); !status) all = std::move(status);
  });
  return all;
}

}  // namespace
}  // namespace stowage::torch

using namespace stowage::torch;  // NOLINT: what follows is the surface of all that is above
using stowage::Bytes;
using stowage::Error;
using stowage::Result;
using stowage::Status;

// ---------------------------------------------------------------------------------------------------- called by torch

void* stowage_torch_alloc(std::size_t size, int device, TorchStream stream) {
  if (size == 0) return nullptr;
  const Result<TorchDevice*> served = find_or_make(device);
  if (!served) raise(served.error(), device, size);
  const Result<std::byte*> address = (*served)->allocate(bytes_of(size), stream);
  if (!address) raise(address.error(), device, size);
  return *address;
}

void* stowage_torch_alloc_or_null(std::size_t size, int device, TorchStream stream) {
  if (size == 0) return nullptr;
  const Result<TorchDevice*> served = find_or_make(device);
  if (!served) raise(served.error(), device, size);
  const Result<std::byte*> address = (*served)->allocate_below(bytes_of(size), stream);
  if (!address && address.error().code != stowage::ErrorCode::out_of_memory) raise(address.error(), device, size);
  return address ? *address : nullptr;
}

void stowage_torch_free(void* address, std::size_t size, int device, TorchStream stream) {
  TorchDevice* const served = find(device);
  if (address == nullptr || served == nullptr) return;
  served->free(static_cast<std::byte*>(address), bytes_of(size), stream);
}

void stowage_torch_record_stream(void* address, TorchStream stream) {
  if (address == nullptr) return;
  bool found = false;
  visit_devices(
      [&](TorchDevice& device) { found = found || device.record_use(static_cast<std::byte*>(address), stream); });
}

void stowage_torch_begin_pool(int device, TorchPoolId pool, TorchStreamFilter filter) {
  const Result<TorchDevice*> served = find_or_make(device);
  if (!served) raise(served.error(), device, 0);
  raise_unless((*served)->begin_pool(pool, std::move(filter)));
}

void stowage_torch_end_pool(int device, TorchPoolId pool) {
  if (TorchDevice* const served = find(device)) served->end_pool(pool);
}

void stowage_torch_release_pool(int device, TorchPoolId pool) {
  if (TorchDevice* const served = find(device)) served->release_pool(pool);
}

void stowage_torch_empty_cache() {
  visit_devices([](TorchDevice& device) { device.trim(); });
}

void stowage_torch_memory_fraction(double fraction, int device) {
  raise_unless(registry().settings.set_fraction(device, fraction));
}

// ----------------------------------------------------------------------------------------------------- for any caller

int stowage_torch_configure(const StowageTorchOptions* options) {
  const std::optional<Bytes> limit = options->limit == 0 ? std::nullopt : std::optional(Bytes(options->limit));
  return answer(registry().settings.set(limit, options->plan_ahead != 0, options->checks != 0));
}

const char* stowage_torch_last_error() { return last_error.c_str(); }

std::size_t stowage_torch_stats(int device, char* buffer, std::size_t capacity) {
  const TorchDevice* const served = find(device);
  const std::string text = served == nullptr ? "null" : served->stats_json();
  if (capacity > 0) {
    const std::size_t count = std::min(text.size(), capacity - 1);
    std::memcpy(buffer, text.data(), count);
    buffer[count] = '\0';
  }
  return text.size();
}

int stowage_torch_reset_peaks() {
  visit_devices([](TorchDevice& device) { device.reset_peaks(); });
  return 0;
}

int stowage_torch_snapshot(const char* path) { return answer(write_snapshot(path)); }
int stowage_torch_begin_iteration() {
  return answer(on_devices([](TorchDevice& device) { return device.begin_iteration(); }));
}
int stowage_torch_end_iteration() {
  return answer(on_devices([](TorchDevice& device) { return device.end_iteration(); }));
}
