#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stowage/memory.hpp"

/// A simulated device for tests and replays: it counts calls, fails on request, tracks the pending
/// work of its streams, and records every misuse. Deterministic: the same calls give the same
/// addresses and ids.
namespace stowage {

/// What can be counted and made to fail.
enum class SimCall : std::uint8_t { allocate, reserve, create, map, unmap, copy, fill, record, wait, synchronize };
inline constexpr std::size_t kSimCalls = 10;

struct SimOptions {
  DeviceId id{1};  ///< Must be unique among existing devices, below 65536 and not 0, which is the CPU.
  std::string name = "sim";
  Bytes alignment{256};                ///< A power of two.
  Bytes skew{0};                       ///< The misalignment of buffers' bases; 0 or more.
  std::optional<Bytes> max_size = {};  ///< Of one buffer.
  /// Of all buffers and physical memory together; beyond that calls fail with `out_of_memory`.
  std::optional<Bytes> memory = {};
  bool virtual_memory = true;
  Bytes granularity{std::int64_t{2} << 20};  ///< A power of two.
};

/// Bytes of the device or the host that a simulated kernel reads or writes.
struct SimRange {
  std::byte* address = nullptr;
  Bytes size;
};

/// A kernel that computes. Its inputs are read, all at once, and its outputs written, one after the
/// other, only when it finishes.
struct SimKernel {
  std::vector<SimRange> inputs = {};
  std::vector<SimRange> outputs = {};
  /// Gets the bytes of each input and sets those of each output. Must not call the device. Resizing
  /// an output is a violation; what is written is then truncated or padded with zeros.
  std::function<void(std::span<const std::vector<std::byte>>, std::span<std::vector<std::byte>>)> compute;
};

/// Work on a stream is pending until `finish`, `finish_all` or `synchronize`; only then are bytes
/// copied or set. Misuse (memory freed or unmapped while pending work uses it; an address, event or
/// physical memory of another device; anything else that the interfaces call `invalid`) is an error
/// if the call can fail, and always a line in `violations`.
///
/// The memory is not host-visible: addresses are fictitious, and the host faults when it accesses
/// one. Only written content takes memory, so the device may be larger than the machine; unwritten
/// memory reads as 0xa5. The device must outlive its buffers.
class SimDevice : public Device {
 public:
  static std::unique_ptr<SimDevice> make(SimOptions options = {});

  /// Simulates a kernel on the stream that uses the buffers or mappings at these addresses until it
  /// finishes.
  virtual Status launch(StreamId stream, std::span<const std::byte* const> addresses) = 0;
  virtual Status launch_kernel(StreamId stream, SimKernel kernel) = 0;
  /// Completes the oldest `count` copies, fills and kernels of the stream, as far as what they wait for is
  /// complete.
  virtual void finish(StreamId stream, std::size_t count = 1) = 0;
  virtual void finish_all() = 0;

  /// Makes the `nth` call of that kind from now on (1: the next one) and the `count - 1` calls
  /// after it fail without effect: with `out_of_memory` or, from `unmap` on, with `device`.
  /// Replaces an earlier setting for that kind. 0: none. A `map_all` that is not refused counts as
  /// a call of `map` for each range and, if one fails after others, one of `unmap`.
  virtual void fail(SimCall call, std::uint64_t nth, std::uint64_t count = 1) = 0;
  /// Makes the `nth` call of any kind from now on fail. 0: none.
  virtual void fail_any(std::uint64_t nth) = 0;
  /// Calls so far, including failed and refused ones.
  [[nodiscard]] virtual std::uint64_t calls(SimCall call) const = 0;
  [[nodiscard]] virtual std::uint64_t calls() const = 0;

  /// Bytes of live buffers and physical memory, now and at the peak.
  [[nodiscard]] virtual Bytes in_use() const = 0;
  [[nodiscard]] virtual Bytes peak() const = 0;
  /// The number of live buffers, reservations, physical memory (including released but still
  /// mapped) and events: 0 when nothing leaks.
  [[nodiscard]] virtual std::size_t live_objects() const = 0;
  [[nodiscard]] virtual std::vector<std::string> violations() const = 0;
};

}  // namespace stowage
