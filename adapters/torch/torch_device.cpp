#include "torch_device.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "stats_json.hpp"

namespace stowage::torch {
namespace {

/// The streams that a thread used last, so that a request usually finds its stream's id without a lock.
class StreamCache {
 public:
  [[nodiscard]] const StreamId* find(const void* device, TorchStream stream) const {
    const CachedStream& entry = entries_[index_of(stream)];
    return entry.device == device && entry.stream == stream ? &entry.id : nullptr;
  }
  void put(const void* device, TorchStream stream, StreamId id) { entries_[index_of(stream)] = {device, stream, id}; }

 private:
  struct CachedStream {
    const void* device = nullptr;
    TorchStream stream = nullptr;
    StreamId id;
  };
  static constexpr std::size_t kEntries = 16;

  static std::size_t index_of(TorchStream stream) {
    const auto number = reinterpret_cast<std::uintptr_t>(stream);
    return (number >> 4 ^ number >> 12) % kEntries;
  }

  std::array<CachedStream, kEntries> entries_{};
};

thread_local StreamCache stream_cache;

StreamOptions stream_options(PhysicalPool* pages, const Settings& settings) {
  return {.limit = settings.limit, .pool = pages, .checks = settings.checks ? Checks::on : Checks::off};
}

std::unique_ptr<PhysicalPool> make_pages(Device& device, const Settings& settings) {
  if (device.virtual_memory() == nullptr) return nullptr;
  return std::make_unique<PhysicalPool>(*device.virtual_memory(), settings.limit);
}

}  // namespace

// --------------------------------------------------------------------------------------------------------------- make

Result<std::unique_ptr<TorchDevice>> TorchDevice::make(int ordinal, SettingsTable& table) {
  STOWAGE_TRY(std::unique_ptr<CudaDevice> device, CudaDevice::make({.ordinal = ordinal}));
  STOWAGE_TRY(const Settings settings, table.of(ordinal, device->info().memory));
  std::unique_ptr<TorchDevice> made(new TorchDevice(std::move(device), settings));
  STOWAGE_TRY_STATUS(made->begin(settings));
  return made;
}

TorchDevice::TorchDevice(std::unique_ptr<CudaDevice> device, const Settings& settings)
    : device_(std::move(device)),
      pages_(make_pages(*device_, settings)),
      ordinary_(*device_, stream_options(pages_.get(), settings)),
      pools_(*device_, stream_options(pages_.get(), settings)) {}

Status TorchDevice::begin(const Settings& settings) {
  if (settings.plan_ahead) {
    const PlanAheadOptions options{
        .pool = pages_.get(), .least_share = 0, .checks = settings.checks ? Checks::on : Checks::off};
    STOWAGE_TRY(ahead_, PlanAheadAllocator::make(*device_, ordinary_, options));
    locked_ = std::make_unique<LockAdaptor>(*ahead_);
    top_ = locked_.get();
  }
  if (settings.log.empty()) return Done{};
  log_file_.open(settings.log);
  if (!log_file_) return Error{ErrorCode::io, fmt::format("cannot write the log {}", settings.log), {}};
  log_file_ << std::unitbuf;  // because the file is never closed
  log_ = std::make_unique<LogAdaptor>(*top_, log_file_);
  top_ = log_.get();
  return Done{};
}

// ------------------------------------------------------------------------------------------------------------ streams

Result<StreamId> TorchDevice::stream_id(TorchStream stream) {
  if (const StreamId* const id = stream_cache.find(this, stream)) return *id;
  return adopt(stream);
}

Result<StreamId> TorchDevice::adopt(TorchStream stream) {
  STOWAGE_TRY(const StreamId id, device_->adopt(stream));
  stream_cache.put(this, stream, id);
  const std::lock_guard lock(streams_mutex_);
  streams_.insert(id);
  return id;
}

// ------------------------------------------------------------------------------------------------------------- memory

Result<std::byte*> TorchDevice::allocate(Bytes size, TorchStream native) {
  STOWAGE_TRY(const StreamId stream, stream_id(native));
  Result<std::byte*> address = allocate_from(size, native, stream);
  if (address || pools_.any_open() || !pools_.any_retired()) return address;
  sweep_pools();
  return allocate_from(size, native, stream);
}

Result<std::byte*> TorchDevice::allocate_from(Bytes size, TorchStream native, StreamId stream) {
  if (pools_.any_open()) {
    if (std::optional<Result<std::byte*>> address = pools_.allocate(size, native, stream)) return *std::move(address);
  }
  return top_->allocate(size, stream);
}

Result<std::byte*> TorchDevice::allocate_below(Bytes size, TorchStream native) {
  STOWAGE_TRY(const StreamId stream, stream_id(native));
  const Result<bool> capturing = device_->is_capturing(stream);
  if (capturing && !*capturing) return top_->allocate(size, stream);
  if (ahead_ != nullptr) return Error{ErrorCode::unsupported, "graphs cannot be captured with plan_ahead", {}};
  ordinary_.begin_capture();
  Result<std::byte*> address = top_->allocate(size, stream);
  ordinary_.end_capture();
  return address;
}

void TorchDevice::free(std::byte* address, Bytes size, TorchStream native) {
  const Result<StreamId> stream = stream_id(native);
  if (!stream) return;  // so nothing was allocated on it
  if (!pools_.free(address, size, *stream)) top_->free(address, size, *stream);
}

bool TorchDevice::record_use(std::byte* address, TorchStream native) {
  const Result<StreamId> stream = stream_id(native);
  if (!stream) return false;
  return pools_.record_use(address, *stream) || top_->record_use(address, *stream);
}

void TorchDevice::trim() {
  sweep_pools();
  top_->trim();
}

// -------------------------------------------------------------------------------------------------------------- pools

Status TorchDevice::begin_pool(TorchPoolId id, TorchStreamFilter filter) {
  if (ahead_ != nullptr) return Error{ErrorCode::unsupported, "graphs cannot be captured with plan_ahead", {}};
  ordinary_.begin_capture();
  pools_.begin(id, std::move(filter));
  return Done{};
}

void TorchDevice::end_pool(TorchPoolId id) {
  if (pools_.end(id)) ordinary_.end_capture();
}

void TorchDevice::release_pool(TorchPoolId id) {
  if (pools_.release(id)) sweep_pools();
}

/// A graph may have been launched on any stream, and may still be running.
void TorchDevice::sweep_pools() {
  if (pools_.any_open() || !pools_.any_retired()) return;
  std::set<StreamId> streams;
  {
    const std::lock_guard lock(streams_mutex_);
    streams = streams_;
  }
  for (const StreamId stream : streams) {
    if (!device_->synchronize(stream)) return;
  }
  pools_.sweep();
}

// ------------------------------------------------------------------------------------------------ figures, iterations

void TorchDevice::reset_peaks() {
  top_->reset_peaks();
  pools_.reset_peaks();
  if (pages_ != nullptr) pages_->reset_peaks();
}

std::string TorchDevice::stats_json() const {
  Figures figures{.device = device_->info().ordinal, .ordinary = top_->stats(), .pools = pools_.figures()};
  if (pages_ != nullptr) figures.pages = pages_->counts();
  if (ahead_ != nullptr) {
    const auto lock = locked_->hold();
    figures.ahead = ahead_->counts();
  }
  return to_json(figures);
}

void TorchDevice::snapshot(std::vector<MemorySnapshot>& snapshots) const {
  snapshots.push_back(top_->snapshot());
  pools_.snapshot(snapshots);
}

Status TorchDevice::refuse_iteration() const {
  if (ahead_ != nullptr) return Done{};
  return Error{ErrorCode::invalid, "iterations need plan_ahead, which is off", {}};
}

Status TorchDevice::begin_iteration() {
  STOWAGE_TRY_STATUS(refuse_iteration());
  const auto lock = locked_->hold();
  ahead_->begin_iteration();
  return Done{};
}

Status TorchDevice::end_iteration() {
  STOWAGE_TRY_STATUS(refuse_iteration());
  const auto lock = locked_->hold();
  ahead_->end_iteration();
  return Done{};
}

}  // namespace stowage::torch
