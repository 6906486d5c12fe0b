#include "stowage/runtime/session_arena.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "runtime/exiting.hpp"
#include "runtime/session/session_layout.hpp"
#include "runtime/session/session_memory.hpp"

namespace stowage {
namespace {

using runtime::SessionGap;
using runtime::SessionLayout;
using runtime::SessionMemory;

bool overlap(const SessionGap& a, const SessionGap& b) {
  return a.base < b.base + b.size.value() && b.base < a.base + a.size.value();
}

}  // namespace

class SessionArena::State {
 public:
  State(Device& device, SessionArenaOptions options)
      : device_(device),
        alignment_(device.buffer_type().alignment()),
        own_pool_(options.pool == nullptr && device.virtual_memory() != nullptr
                      ? std::make_unique<PhysicalPool>(*device.virtual_memory())
                      : nullptr),
        memory_({.device = &device,
                 .pool = options.pool != nullptr ? options.pool : own_pool_.get(),
                 .address_space = options.address_space,
                 .alignment = alignment_}) {
    runtime::process_is_exiting();
  }

  ~State() {
    if (runtime::process_is_exiting()) {
      memory_.leave();
      return;
    }
    if (!wait_for_runs() || !wait_for_active()) memory_.leave();
    for (const auto& [stream, event] : ended_) device_.forget(event);
  }

  Result<LoadedModel> load(std::span<const Bytes> sizes) {
    STOWAGE_TRY(const std::vector<Bytes> rounded, round(sizes));
    const std::lock_guard lock(mutex_);
    memory_.settle();
    SessionLayout layout = runtime::lay_out(rounded, runtime::gaps_between(memory_.extents(), active_blocks()));
    STOWAGE_TRY_STATUS(memory_.has_pages() ? place_behind(rounded, layout) : place_in_buffers(rounded, layout));
    Model model;
    for (std::size_t i = 0; i < rounded.size(); ++i) {
      if (rounded[i] > Bytes(0)) model.blocks.push_back({layout.addresses[i], rounded[i]});
    }
    model.blocks = runtime::merged(std::move(model.blocks));
    const ModelId id{next_id_++};
    models_.emplace(id, std::move(model));
    return LoadedModel{id, std::move(layout.addresses)};
  }

  Status unload(ModelId id) {
    const std::lock_guard lock(mutex_);
    STOWAGE_TRY(Model* const model, find(id));
    if (model->stream) return Error{ErrorCode::invalid, fmt::format("model {} is running", number(id)), {}};
    models_.erase(id);
    return Done{};
  }

  Status begin(ModelId id, StreamId stream) {
    const std::lock_guard lock(mutex_);
    STOWAGE_TRY(Model* const model, find(id));
    if (model->stream) return Error{ErrorCode::invalid, fmt::format("model {} is already running", number(id)), {}};
    for (const auto& [other_id, other] : models_) {
      if (!other.stream || !share_bytes(*model, other)) continue;
      return Error{ErrorCode::invalid,
                   fmt::format("model {} cannot run: it shares memory with model {}, which is running", number(id),
                               number(other_id)),
                   {}};
    }
    STOWAGE_TRY_STATUS(order_after_runs(stream));
    model->stream = stream;
    return Done{};
  }

  Status end(ModelId id) {
    const std::lock_guard lock(mutex_);
    STOWAGE_TRY(Model* const model, find(id));
    if (!model->stream) return Error{ErrorCode::invalid, fmt::format("model {} is not running", number(id)), {}};
    STOWAGE_TRY(const EventId event, device_.record(*model->stream));
    if (const auto before = ended_.find(*model->stream); before != ended_.end()) device_.forget(before->second);
    ended_.insert_or_assign(*model->stream, event);
    model->stream = {};
    return Done{};
  }

  Bytes trim() {
    const std::lock_guard lock(mutex_);
    if (memory_.extents().empty() || !wait_for_runs()) return Bytes(0);
    if (memory_.has_pages()) {
      const std::byte* const base = memory_.extents().front().base;
      Bytes top(0);
      for (const SessionGap& block : all_blocks()) top = std::max(top, Bytes(block.base - base) + block.size);
      return memory_.shrink(top);
    }
    Bytes returned(0);
    for (std::size_t i = memory_.extents().size(); i-- > 0;) {
      if (!is_used(memory_.extents()[i])) returned += memory_.remove(i);
    }
    return returned;
  }

  [[nodiscard]] DeviceId device() const { return device_.id(); }
  [[nodiscard]] Bytes reserved() const {
    const std::lock_guard lock(mutex_);
    return memory_.reserved();
  }
  [[nodiscard]] std::size_t models() const {
    const std::lock_guard lock(mutex_);
    return models_.size();
  }

 private:
  struct Model {
    std::vector<SessionGap> blocks;       ///< Merged; few, because most blocks are adjacent.
    std::optional<StreamId> stream = {};  ///< While it is active.
  };

  static std::uint64_t number(ModelId id) { return static_cast<std::uint64_t>(id); }

  [[nodiscard]] Result<std::vector<Bytes>> round(std::span<const Bytes> sizes) const {
    std::vector<Bytes> rounded;
    Bytes sum(0);
    for (const Bytes size : sizes) {
      if (size < Bytes(0))
        return Error{ErrorCode::invalid, fmt::format("a block cannot have {} bytes", size.value()), {}};
      const std::optional<Bytes> more =
          size > kMaxBytes ? std::nullopt : add_within_limit(sum, std::min(align_up(size, alignment_), kMaxBytes));
      if (!more)
        return Error{
            ErrorCode::out_of_memory, fmt::format("the blocks have more than {} bytes", kMaxBytes.value()), {}};
      sum = *more;
      rounded.push_back(align_up(size, alignment_));
    }
    return rounded;
  }

  Result<Model*> find(ModelId id) {
    const auto found = models_.find(id);
    if (found == models_.end()) return Error{ErrorCode::invalid, fmt::format("model {} is not loaded", number(id)), {}};
    return &found->second;
  }

  [[nodiscard]] static bool share_bytes(const Model& a, const Model& b) {
    return std::any_of(a.blocks.begin(), a.blocks.end(), [&](const SessionGap& one) {
      return std::any_of(b.blocks.begin(), b.blocks.end(),
                         [&](const SessionGap& other) { return overlap(one, other); });
    });
  }

  [[nodiscard]] std::vector<SessionGap> active_blocks() const {
    std::vector<SessionGap> blocks;
    for (const auto& [id, model] : models_) {
      if (model.stream) blocks.insert(blocks.end(), model.blocks.begin(), model.blocks.end());
    }
    return blocks;
  }

  [[nodiscard]] std::vector<SessionGap> all_blocks() const {
    std::vector<SessionGap> blocks;
    for (const auto& [id, model] : models_) blocks.insert(blocks.end(), model.blocks.begin(), model.blocks.end());
    return blocks;
  }

  [[nodiscard]] bool is_used(const SessionMemory::Extent& extent) const {
    const std::vector<SessionGap> blocks = all_blocks();
    return std::any_of(blocks.begin(), blocks.end(),
                       [&](const SessionGap& block) { return overlap(block, {extent.base, extent.size}); });
  }

  /// Places the blocks that fit no gap at the end; they start in the last gap if that one is at the end.
  Status place_behind(std::span<const Bytes> sizes, SessionLayout& layout) {
    if (layout.left.empty()) return Done{};
    const SessionMemory::Extent& extent = memory_.extents().front();
    std::byte* at = extent.base + extent.size.value();
    if (!layout.gaps.empty() && layout.gaps.back().base + layout.gaps.back().size.value() == at)
      at = layout.gaps.back().base;
    for (const std::size_t block : layout.left) {
      layout.addresses[block] = at;
      at += sizes[block].value();
    }
    return memory_.grow(Bytes(at - extent.base));
  }

  /// Places the blocks that fit no gap in new buffers; in a single one, if the device's largest buffer permits.
  Status place_in_buffers(std::span<const Bytes> sizes, SessionLayout& layout) {
    const std::size_t before = memory_.extents().size();
    const std::optional<Bytes> most = device_.buffer_type().max_size();
    for (std::size_t first = 0; first < layout.left.size();) {
      std::size_t last = first;
      Bytes sum(0);
      do {
        sum += sizes[layout.left[last++]];
      } while (last < layout.left.size() && (!most || sum + sizes[layout.left[last]] + alignment_ <= *most));
      const Status added = memory_.add(sum);
      if (!added) {
        while (memory_.extents().size() > before) memory_.remove(memory_.extents().size() - 1);
        return added;
      }
      std::byte* at = memory_.extents().back().base;
      for (; first < last; ++first) {
        layout.addresses[layout.left[first]] = at;
        at += sizes[layout.left[first]].value();
      }
    }
    return Done{};
  }

  Status order_after_runs(StreamId stream) {
    for (const auto& [other, event] : ended_) {
      if (other == stream) continue;
      STOWAGE_TRY(const bool complete, device_.is_complete(event));
      if (!complete) STOWAGE_TRY_STATUS(device_.wait(stream, event));
    }
    return Done{};
  }

  /// Waits for runs that have ended on the host, but perhaps not on the device. Returns false if the device fails.
  /// Active runs need no wait: their models' blocks count as busy.
  bool wait_for_runs() {
    return std::all_of(ended_.begin(), ended_.end(), [this](const auto& ended) {
      const Result<bool> complete = device_.is_complete(ended.second);
      return (complete && *complete) || device_.synchronize(ended.first).has_value();
    });
  }

  bool wait_for_active() {
    return std::all_of(models_.begin(), models_.end(), [this](const auto& model) {
      return !model.second.stream || device_.synchronize(*model.second.stream).has_value();
    });
  }

  Device& device_;
  const Bytes alignment_;
  std::unique_ptr<PhysicalPool> own_pool_;
  mutable std::mutex mutex_;
  SessionMemory memory_;
  std::map<ModelId, Model> models_;
  std::map<StreamId, EventId> ended_;  ///< The last run on each stream.
  std::uint64_t next_id_ = 1;
};

Result<std::unique_ptr<SessionArena>> SessionArena::make(Device& device, SessionArenaOptions options) {
  VirtualMemory* const memory = options.pool != nullptr ? &options.pool->memory() : device.virtual_memory();
  if (memory != nullptr && memory->device() != device.id()) {
    return Error{ErrorCode::invalid,
                 fmt::format("the session is on device {}, but its pages are on device {}", device.id().index(),
                             memory->device().index()),
                 {}};
  }
  const bool fits = options.address_space > Bytes(0) && options.address_space <= kMaxBytes &&
                    (memory == nullptr || is_aligned(options.address_space, memory->granularity()));
  if (!fits) {
    return Error{ErrorCode::invalid,
                 fmt::format("a session cannot have an address space of {} bytes", options.address_space.value()),
                 {}};
  }
  return std::unique_ptr<SessionArena>(new SessionArena(std::make_unique<State>(device, options)));
}

SessionArena::SessionArena(std::unique_ptr<State> state) : state_(std::move(state)) {}
SessionArena::~SessionArena() = default;

Result<LoadedModel> SessionArena::load(std::span<const Bytes> sizes) { return state_->load(sizes); }
Status SessionArena::unload(ModelId model) { return state_->unload(model); }
Status SessionArena::begin(ModelId model, StreamId stream) { return state_->begin(model, stream); }
Status SessionArena::end(ModelId model) { return state_->end(model); }
Bytes SessionArena::trim() { return state_->trim(); }
DeviceId SessionArena::device() const { return state_->device(); }
Bytes SessionArena::reserved() const { return state_->reserved(); }
std::size_t SessionArena::models() const { return state_->models(); }

}  // namespace stowage
