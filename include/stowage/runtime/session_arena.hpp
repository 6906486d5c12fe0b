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
  /// Where pages come from, of the same device; it must outlive the arena. Null: a pool of its own.
  PhysicalPool* pool = nullptr;
  Bytes address_space{
      std::int64_t{1}
      << 36};  ///< Reserved once; a bound of all memory. Unused without virtual memory.
};

/// A model that an arena has memory for, by number; meaningful only to its arena. Numbers are not
/// used again.
enum class ModelId : std::uint64_t {};

/// What a model was given.
struct LoadedModel {
  ModelId id{};
  std::vector<std::byte*>
      addresses;  ///< One per block, in the order of the sizes; null for size 0.
};

/// The memory of a session's models on one device, which run one at a time and therefore overlay
/// each other: every load starts from the beginning again. GE calls it ActiveMemoryAllocator.
///
/// A *load* gives a model addresses, the largest block first, in memory that is there already, and
/// adds only the shortfall. They stay valid until the model is unloaded, whatever else is loaded.
/// The bytes are the model's only while it is *active*, from `begin` to `end` of a run: two models
/// whose blocks share bytes are not active at once. A model that is loaded while others are active
/// gets bytes that none of those has, so that its blocks may be filled, or it may run, beside them:
/// neither is a model refused because another is running, nor can it harm that one.
///
/// Runs follow each other in the order of the device: a run on another stream waits for what ended
/// before by an event. With virtual memory there is one reserved range with pages of a pool at its
/// start; without, or where addresses cannot be reserved, there are buffers: same contract, and no
/// failure.
///
/// Thread-safe: one lock, held during calls to the device. The device must outlive it. Its end
/// waits for the runs' streams.
class STOWAGE_EXPORT SessionArena {
 public:
  /// Fails with `invalid` when the pool's device is another one, or the address space is no
  /// multiple of the granularity.
  static Result<std::unique_ptr<SessionArena>> make(Device& device,
                                                    SessionArenaOptions options = {});
  ~SessionArena();
  SessionArena(const SessionArena&) = delete;
  SessionArena& operator=(const SessionArena&) = delete;

  /// Memory for blocks of these sizes, each aligned as the device's buffers are. Fails with
  /// `invalid` below 0, with `out_of_memory` when the device or the pool has no more; nothing has
  /// changed then. O(n log n) for n blocks and gaps.
  Result<LoadedModel> load(std::span<const Bytes> sizes);
  /// The addresses are of no more use. Memory stays for the next model: see `trim`. Fails with
  /// `invalid` for a model that is active or not loaded.
  Status unload(ModelId model);

  /// The model's blocks are its own from now on, for work on `stream`. Fails with `invalid` when
  /// the model is active or not loaded or shares bytes with one that is active, with the device's
  /// error when the stream cannot be made to wait; nothing has changed then.
  Status begin(ModelId model, StreamId stream);
  /// All work of the run was submitted to the stream. Fails with `invalid` for a model that is not
  /// active, with the device's error when it cannot be followed; the model is active still then.
  Status end(ModelId model);

  /// Returns memory behind the last block of any loaded model (buffers without one) to the device,
  /// once the streams of runs that ended are done; says how much. Nothing when waiting fails.
  Bytes trim();

  [[nodiscard]] DeviceId device() const;
  /// What the arena holds of the device.
  [[nodiscard]] Bytes reserved() const;
  [[nodiscard]] std::size_t models() const;

 private:
  class STOWAGE_HIDDEN State;
  explicit SessionArena(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace stowage
