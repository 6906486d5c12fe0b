#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"

/// Real memory: buffers and their types, virtual memory, and the devices that provide them.
/// Independent of tensors and plans.
namespace stowage {

using DeviceId = Id<struct DeviceList>;

class BufferType;

/// An owned block of memory. The destructor frees it; all work that uses it must be complete by
/// then. Its type and device must outlive it.
///
/// Thread safety: any thread may query; calls that write the same bytes must not run concurrently.
class STOWAGE_EXPORT Buffer {
 public:
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// The first byte, not necessarily aligned to the type's alignment. The host may dereference it
  /// only when the type is host-visible. Null if and only if the size is 0.
  [[nodiscard]] virtual std::byte* base() const = 0;
  [[nodiscard]] virtual Bytes size() const = 0;
  [[nodiscard]] virtual const BufferType& type() const = 0;

  // For memory of any kind; done when the call returns. A range outside of the buffer is `invalid`,
  // and nothing happens.
  virtual Status fill(ByteRange range, std::uint8_t value) = 0;
  virtual Status write(Bytes offset, std::span<const std::byte> from) = 0;
  virtual Status read(Bytes offset, std::span<std::byte> to) const = 0;

  Status clear(std::uint8_t value = 0) { return fill({Bytes(0), size()}, value); }
  /// Forgets what the backend has recorded about the tensors in the buffer. The bytes are
  /// unchanged.
  virtual void reset() {}

 protected:
  Buffer() = default;
};

/// A kind of memory that buffers can be allocated from. Thread-safe.
class STOWAGE_EXPORT BufferType {
 public:
  virtual ~BufferType() = default;
  BufferType(const BufferType&) = delete;
  BufferType& operator=(const BufferType&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual DeviceId device() const = 0;
  /// The alignment of every tensor's address; a power of two.
  [[nodiscard]] virtual Bytes alignment() const = 0;
  /// The largest size of one buffer; absent: no specific limit.
  [[nodiscard]] virtual std::optional<Bytes> max_size() const { return std::nullopt; }
  /// Whether the host may dereference addresses in its buffers.
  [[nodiscard]] virtual bool host_visible() const = 0;
  /// Whether memory that somebody else allocated there is of this kind and of this device. Nothing
  /// if the type cannot tell, which is the default.
  [[nodiscard]] virtual std::optional<bool> owns(const std::byte* /*address*/) const {
    return std::nullopt;
  }

  /// Allocates a buffer of at least that size, with unspecified content. Size 0 gives an empty
  /// buffer, so that views can be bound. Fails with `out_of_memory`, naming type and size, when
  /// memory is exhausted or the size is above `max_size`, and with `invalid` for a negative size;
  /// nothing is leaked then.
  virtual Result<std::unique_ptr<Buffer>> allocate(Bytes size) = 0;

 protected:
  BufferType() = default;
};

/// Identifies physical memory of the `VirtualMemory` that created it.
enum class PhysicalId : std::uint64_t {};

/// A range of physical memory, to be mapped.
struct PhysicalRange {
  PhysicalId physical{};
  Bytes offset;
  Bytes size;
};

/// Virtual memory: address ranges are reserved, physical memory is created, and physical memory is
/// mapped at reserved addresses, possibly at several at once.
///
/// Sizes, offsets and addresses must be multiples of the granularity, and sizes positive; otherwise
/// calls fail with `invalid`. They fail with `out_of_memory` when memory, addresses or the system's
/// tables are exhausted. A call that fails changes nothing. Thread-safe; the caller of `unmap` must
/// ensure that the range is not in use.
class STOWAGE_EXPORT VirtualMemory {
 public:
  virtual ~VirtualMemory() = default;
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;

  [[nodiscard]] virtual DeviceId device() const = 0;
  [[nodiscard]] virtual Bytes granularity() const = 0;
  /// Whether a part of physical memory can be mapped. If not, mapping a part fails with
  /// `unsupported`.
  [[nodiscard]] virtual bool maps_parts() const { return true; }

  /// Reserves addresses without memory. Accessing them is a fault until memory is mapped.
  virtual Result<std::byte*> reserve(Bytes size) = 0;
  /// Frees a whole reserved range. Nothing may be mapped in it.
  virtual Status free(std::byte* address, Bytes size) = 0;

  /// Creates physical memory, with unspecified content.
  virtual Result<PhysicalId> create(Bytes size) = 0;
  /// Releases physical memory. It is freed as soon as it is no longer mapped; its id is invalid
  /// from now on.
  virtual Status release(PhysicalId physical) = 0;

  /// Maps `size` bytes of `physical`, starting at `offset`, at `address`. The target must be within
  /// one reserved range and unmapped.
  virtual Status map(std::byte* address, PhysicalId physical, Bytes offset, Bytes size) = 0;
  /// Maps all ranges back to back, starting at `address`, within one reserved range; each is a
  /// mapping of its own. Can be cheaper than separate calls of `map`. If one cannot be mapped, none
  /// is; only when undoing fails too is the error `device`, and some stay mapped. An empty list is
  /// not an error.
  ///
  /// The default calls `map` for each range and, to undo, `unmap` once. It does not check that the
  /// target is within one reserved range; a backend that relies on it must.
  virtual Status map_all(std::byte* address, std::span<const PhysicalRange> ranges);
  /// Unmaps a range, which must consist of whole mappings.
  virtual Status unmap(std::byte* address, Bytes size) = 0;

 protected:
  VirtualMemory() = default;
};

/// Identifies a point in the work of a stream; valid only for its device.
enum class EventId : std::uint64_t {};

/// Something that has memory and executes work in streams, each in order of submission.
/// Thread-safe.
class STOWAGE_EXPORT Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] virtual DeviceId id() const = 0;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The default type, owned by the device.
  [[nodiscard]] virtual BufferType& buffer_type() = 0;
  /// How many bytes are available now, if the device can tell.
  [[nodiscard]] virtual std::optional<Bytes> free_memory() const { return std::nullopt; }
  /// Null when the device has no virtual memory. Owned by the device.
  [[nodiscard]] virtual VirtualMemory* virtual_memory() = 0;

  /// Copies bytes in stream order. Each address must be host-visible or of this device, and both
  /// ranges must stay valid and unchanged until the copy is complete. Size 0 does nothing.
  virtual Status copy(StreamId stream, std::byte* to, const std::byte* from, Bytes size) = 0;
  /// Sets bytes in stream order. They must be of a buffer or a mapping of this device and stay
  /// valid until that is complete. Size 0 does nothing.
  virtual Status fill(StreamId stream, std::byte* to, std::uint8_t value, Bytes size) = 0;
  /// Records an event that completes when all work submitted to the stream so far is complete.
  virtual Result<EventId> record(StreamId stream) = 0;
  /// Work submitted to the stream from now on waits for the event, even if it is forgotten
  /// meanwhile. Here and below, an event of another device or a forgotten one is `invalid`.
  virtual Status wait(StreamId stream, EventId event) = 0;
  [[nodiscard]] virtual Result<bool> is_complete(EventId event) = 0;
  /// Blocks the caller until all work of the stream is complete.
  virtual Status synchronize(StreamId stream) = 0;
  /// Frees an event that is no longer needed. Unknown events are ignored. Ids are not reused.
  virtual void forget(EventId event) = 0;

 protected:
  Device() = default;
};

// --------------------------------------------------------------------------------------- registry

/// A kind of device that can be opened by name.
struct DeviceInfo {
  std::string_view name;     ///< For `open_device`: "cpu".
  std::string_view summary;  ///< A one-line description; says so if this build lacks it.
  bool in_build = true;      ///< If false, opening it fails and says why.
};

/// All kinds of devices, including those that this build lacks.
[[nodiscard]] STOWAGE_EXPORT std::span<const DeviceInfo> devices();

struct DeviceOptions {
  int ordinal = 0;                   ///< Which one, if the machine has several.
  std::optional<Bytes> memory = {};  ///< A limit; `unsupported` if the device cannot have one.
};

/// Opens a device by name; "cpu" always returns the same one. Fails with `unknown_name`, listing
/// the names; with `unsupported` for an option that the device does not support; and when the
/// device cannot be opened. Thread-safe.
STOWAGE_EXPORT Result<std::shared_ptr<Device>> open_device(std::string_view name,
                                                           const DeviceOptions& options = {});

// -------------------------------------------------------------------------------------------- CPU

/// The host: heap memory aligned to 64 bytes, and memfd-backed virtual memory where the system
/// supports it. Submitted work is complete when the call returns. A singleton with id 0, never
/// destroyed.
[[nodiscard]] STOWAGE_EXPORT Device& cpu_device();

struct CpuBufferOptions {
  Bytes alignment{64};  ///< Of all addresses, buffers included; a power of two up to 1 GiB.
  std::optional<Bytes> max_size = {};
  /// Allocate anonymous pages, with advice to use huge pages, instead of heap memory.
  bool map_pages = false;
};

/// Makes another type of host memory. Fails with `invalid` when the options are invalid.
STOWAGE_EXPORT Result<std::unique_ptr<BufferType>> make_cpu_buffer_type(
    std::string name, const CpuBufferOptions& options);

/// Wraps host memory owned by the caller as a buffer of the CPU's type, without copying or freeing
/// it. `memory` may be unaligned and must outlive the buffer.
[[nodiscard]] STOWAGE_EXPORT std::unique_ptr<Buffer> borrow_buffer(std::span<std::byte> memory);

}  // namespace stowage
