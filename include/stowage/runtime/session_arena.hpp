#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage {

struct SessionArenaOptions {
  /// The pool to take pages from, of the same device; must outlive the arena. Null: a private pool.
  PhysicalPool* pool = nullptr;
  Bytes address_space{
      std::int64_t{1}
      << 36};  ///< Reserved once; limits the total memory. Unused without virtual memory.
};

/// Identifies a loaded model of one arena; never reused.
enum class ModelId : std::uint64_t {};

/// The memory of a loaded model.
struct LoadedModel {
  ModelId id{};
  /// One per block, in the order of the sizes; null for size 0.
  std::vector<std::byte*> addresses;
};

/// The memory of a session's models on one device, which run one at a time and therefore share the
/// same memory: every load starts from the beginning of the arena. GE calls it
/// ActiveMemoryAllocator.
///
/// `load` gives a model addresses in existing memory, the largest block first, and adds only what
/// is missing. They stay valid until the model is unloaded, whatever else is loaded. The bytes
/// belong to the model only while it is *active*, from `begin` to `end` of a run; two models whose
/// blocks share bytes cannot be active at the same time. A model that is loaded while others are
/// active gets bytes that none of those has, so it can be filled or run concurrently with them.
///
/// Runs are ordered on the device: a run on another stream waits for earlier runs by an event. With
/// virtual memory, the arena is one reserved range with pages of a pool mapped at its start.
/// Without, or if addresses cannot be reserved, it consists of buffers, with the same contract.
///
/// Thread-safe: one lock, held during device calls. The device must outlive it. The destructor
/// waits for the streams of all runs.
class STOWAGE_EXPORT SessionArena {
 public:
  /// Fails with `invalid` when the pool belongs to another device or the address space is not a
  /// multiple of the granularity.
  static Result<std::unique_ptr<SessionArena>> make(Device& device,
                                                    SessionArenaOptions options = {});
  ~SessionArena();
  SessionArena(const SessionArena&) = delete;
  SessionArena& operator=(const SessionArena&) = delete;

  /// Allocates blocks of these sizes, aligned as the device's buffers are. Fails with `invalid` for
  /// a negative size, with `out_of_memory` when the device or the pool is exhausted; nothing has
  /// changed then. O(n log n) for n blocks and gaps.
  Result<LoadedModel> load(std::span<const Bytes> sizes);
  /// Invalidates the model's addresses. Its memory is kept for the next model: see `trim`. Fails
  /// with `invalid` for a model that is active or not loaded.
  Status unload(ModelId model);

  /// Begins a run: work on `stream` may use the model's blocks from now on. Fails with `invalid`
  /// when the model is active, not loaded, or shares bytes with an active one, with the device's
  /// error if the stream cannot be made to wait; nothing has changed then.
  Status begin(ModelId model, StreamId stream);
  /// Ends a run, all of whose work must have been submitted to its stream. Fails with `invalid` for
  /// a model that is not active, with the device's error if no event can be recorded; the model
  /// then stays active.
  Status end(ModelId model);

  /// Returns memory after the last block of any loaded model, or buffers without blocks, to the
  /// device, after waiting for the streams of ended runs. Returns the number of bytes; 0 if waiting
  /// fails.
  Bytes trim();

  [[nodiscard]] DeviceId device() const;
  /// The bytes that the arena holds.
  [[nodiscard]] Bytes reserved() const;
  [[nodiscard]] std::size_t models() const;

 private:
  class STOWAGE_HIDDEN State;
  explicit SessionArena(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace stowage
