#pragma once

#include "stowage/memory.hpp"

/// A device in host memory for tests and replays: it counts calls, fails on request, knows what its streams have not finished,
/// and keeps a record of every misuse.
namespace stowage {

/// What can be counted and made to fail.
enum class SimCall : std::uint8_t { allocate, reserve, create, map, unmap, copy, record, wait, synchronize };
inline constexpr std::size_t kSimCalls = 9;

struct SimOptions {
  DeviceId id{0};
  std::string name = "sim";
  Bytes alignment{256};
  std::optional<Bytes> max_size = {};  ///< Of one buffer.
  std::optional<Bytes> memory = {};    ///< Of all buffers and physical memory together; beyond it: out_of_memory.
  bool virtual_memory = true;
  Bytes granularity{std::int64_t{2} << 20};
};

/// Work on a stream is pending until the test says that time passes: `finish`, `finish_all`, or `synchronize`. Misuse that a real
/// device would punish later (memory freed or unmapped under pending work, an address, event or physical memory of another
/// device) is an error where the call can fail and in any case a line in `violations`.
class SimDevice : public Device {
 public:
  static std::unique_ptr<SimDevice> make(SimOptions options = {});

  /// Pretends that a kernel on the stream uses these bytes until the work so far is finished.
  virtual Status launch(StreamId stream, std::span<const std::byte* const> addresses) = 0;
  /// Completes the oldest `count` pieces of work of the stream, as far as what they wait for is complete.
  virtual void finish(StreamId stream, std::size_t count = 1) = 0;
  virtual void finish_all() = 0;

  /// The `nth` call of that kind from now on fails (1: the next one), and `count - 1` after it.
  virtual void fail(SimCall call, std::uint64_t nth, std::uint64_t count = 1) = 0;
  /// The `nth` call of any kind fails. 0: none.
  virtual void fail_any(std::uint64_t nth) = 0;
  [[nodiscard]] virtual std::uint64_t calls(SimCall call) const = 0;
  [[nodiscard]] virtual std::uint64_t calls() const = 0;

  /// Bytes of live buffers and physical memory, now and at most.
  [[nodiscard]] virtual Bytes in_use() const = 0;
  [[nodiscard]] virtual Bytes peak() const = 0;
  /// Buffers, reservations, physical memory and events that are still there: 0 when nothing leaks.
  [[nodiscard]] virtual std::size_t live_objects() const = 0;
  [[nodiscard]] virtual std::vector<std::string> violations() const = 0;
};

}  // namespace stowage
