#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stowage/memory.hpp"

/// A device in host memory for tests and replays: it counts calls, fails on request, knows what its
/// streams have not finished, and keeps a record of every misuse. Same calls, same addresses and
/// ids.
namespace stowage {

/// What can be counted and made to fail.
enum class SimCall : std::uint8_t { allocate, reserve, create, map, unmap, copy, record, wait, synchronize };
inline constexpr std::size_t kSimCalls = 9;

struct SimOptions {
  DeviceId id{1};  ///< Different for devices that exist at the same time; below 65536. 0 is the CPU's.
  std::string name = "sim";
  Bytes alignment{256};                ///< A power of two.
  Bytes skew{0};                       ///< How far the bases of buffers are from being aligned; 0 or more.
  std::optional<Bytes> max_size = {};  ///< Of one buffer.
  std::optional<Bytes> memory = {};    ///< Of all buffers and physical memory together; beyond it: out_of_memory.
  bool virtual_memory = true;
  Bytes granularity{std::int64_t{2} << 20};  ///< A power of two.
};

/// Bytes that a simulated kernel reads or writes: of the device, or of the host.
struct SimRange {
  std::byte* address = nullptr;
  Bytes size;
};

/// A kernel that computes. Only when it is finished are `inputs` read, all at once, and `outputs`
/// written, one after the other.
struct SimKernel {
  std::vector<SimRange> inputs = {};
  std::vector<SimRange> outputs = {};
  /// The bytes of each input; those of each output, to be set. Must not call the device. An output
  /// of another size than it had is a violation; what is written is cut or filled up with zeros
  /// then.
  std::function<void(std::span<const std::vector<std::byte>>, std::span<std::vector<std::byte>>)> compute;
};

/// Work on a stream is pending until the test says that time passes: `finish`, `finish_all`, or
/// `synchronize`; only then are bytes copied. Misuse (memory freed or unmapped under pending work,
/// an address, event or physical memory of another device, whatever else the interfaces call
/// `invalid`) is an error where the call can fail and in any case a line in `violations`.
///
/// The memory is not host-visible: addresses are made up, and the host faults when it touches one.
/// Content takes room only where something was written, so that the device may be larger than the
/// machine; memory never written reads as 0xa5. The device must outlive its buffers.
class SimDevice : public Device {
 public:
  static std::unique_ptr<SimDevice> make(SimOptions options = {});

  /// Pretends that a kernel on the stream uses the buffers or mappings with these addresses until
  /// it is finished.
  virtual Status launch(StreamId stream, std::span<const std::byte* const> addresses) = 0;
  virtual Status launch_kernel(StreamId stream, SimKernel kernel) = 0;
  /// Completes the oldest `count` pieces of work (copies and kernels) of the stream, as far as what
  /// they wait for is complete.
  virtual void finish(StreamId stream, std::size_t count = 1) = 0;
  virtual void finish_all() = 0;

  /// The `nth` call of that kind from now on fails (1: the next one), and `count - 1` after it, for
  /// lack of memory or, from `unmap` on, of the device; nothing happens in it. Replaces what was
  /// said of that kind before. 0: none. A `map_all` that is not refused is a call of `map` for each
  /// range and, where one of them fails behind others, one of `unmap`.
  virtual void fail(SimCall call, std::uint64_t nth, std::uint64_t count = 1) = 0;
  /// The `nth` call of any kind from now on fails. 0: none.
  virtual void fail_any(std::uint64_t nth) = 0;
  /// Calls so far, failed and refused ones too.
  [[nodiscard]] virtual std::uint64_t calls(SimCall call) const = 0;
  [[nodiscard]] virtual std::uint64_t calls() const = 0;

  /// Bytes of live buffers and physical memory, now and at most.
  [[nodiscard]] virtual Bytes in_use() const = 0;
  [[nodiscard]] virtual Bytes peak() const = 0;
  /// Buffers, reservations, physical memory (released but still mapped too) and events that are
  /// still there: 0 when nothing leaks.
  [[nodiscard]] virtual std::size_t live_objects() const = 0;
  [[nodiscard]] virtual std::vector<std::string> violations() const = 0;
};

}  // namespace stowage
