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

/// Real memory: kinds of buffers, buffers, address ranges that pages are mapped into, and the
/// devices that have them. Knows bytes only, neither tensors nor plans.
namespace stowage {

using DeviceId = Id<struct DeviceList>;

class BufferType;

/// A block of memory, owned. The destructor frees it; everything on it must be over by then. The
/// type and its device must outlive it.
///
/// Thread safety: queries from any thread; two calls that write the same bytes must not overlap in
/// time.
class STOWAGE_EXPORT Buffer {
 public:
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// The first byte; not necessarily aligned to the type's alignment. May be dereferenced only when
  /// the type is host-visible. Null when and only when the size is 0.
  [[nodiscard]] virtual std::byte* base() const = 0;
  [[nodiscard]] virtual Bytes size() const = 0;
  [[nodiscard]] virtual const BufferType& type() const = 0;

  // For memory of any kind; done when the call returns. A range outside of the buffer is `invalid`,
  // and nothing happens.
  virtual Status fill(ByteRange range, std::uint8_t value) = 0;
  virtual Status write(Bytes offset, std::span<const std::byte> from) = 0;
  virtual Status read(Bytes offset, std::span<std::byte> to) const = 0;

  Status clear(std::uint8_t value = 0) { return fill({Bytes(0), size()}, value); }
  /// Forgets whatever the backend keeps about the tensors in it. The bytes stay.
  virtual void reset() {}

 protected:
  Buffer() = default;
};

/// A kind of memory to make buffers of. Thread-safe.
class STOWAGE_EXPORT BufferType {
 public:
  virtual ~BufferType() = default;
  BufferType(const BufferType&) = delete;
  BufferType& operator=(const BufferType&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual DeviceId device() const = 0;
  /// Of every tensor's address; a power of two.
  [[nodiscard]] virtual Bytes alignment() const = 0;
  /// Of one buffer; absent: no limit of its own.
  [[nodiscard]] virtual std::optional<Bytes> max_size() const { return std::nullopt; }
  /// Whether the host may dereference addresses.
  [[nodiscard]] virtual bool host_visible() const = 0;

  /// A new buffer of at least that size (0: an empty one, so that views can be bound). Fails with
  /// `out_of_memory`, naming type and size, above the largest size too, and with `invalid` below 0;
  /// nothing is left behind then. Its content is unspecified.
  virtual Result<std::unique_ptr<Buffer>> allocate(Bytes size) = 0;

 protected:
  BufferType() = default;
};

/// Physical memory, by number; meaningful only to the `VirtualMemory` that made it.
enum class PhysicalId : std::uint64_t {};

/// Bytes of physical memory, to be mapped.
struct PhysicalRange {
  PhysicalId physical{};
  Bytes offset;
  Bytes size;
};

/// Addresses and memory apart: ranges of addresses are reserved, physical memory is created, and
/// one is mapped into the other, at two places at once too. All sizes, offsets and addresses are
/// multiples of the granularity and sizes are above 0, or the call fails with `invalid`; where
/// memory, addresses or the system's tables are exhausted it fails with `out_of_memory`. A call
/// that fails changes nothing. Thread-safe, but whoever unmaps a range sees to it that nobody uses
/// it.
class STOWAGE_EXPORT VirtualMemory {
 public:
  virtual ~VirtualMemory() = default;
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;

  [[nodiscard]] virtual DeviceId device() const = 0;
  [[nodiscard]] virtual Bytes granularity() const = 0;
  /// Whether a mapping may show less than all of some physical memory. Where it may not, a map of a
  /// part is `unsupported`.
  [[nodiscard]] virtual bool maps_parts() const { return true; }

  /// Addresses without memory behind them: touching them is a fault.
  virtual Result<std::byte*> reserve(Bytes size) = 0;
  /// Gives a whole reserved range back. Nothing may be mapped there.
  virtual Status free(std::byte* address, Bytes size) = 0;

  /// Memory without an address. Its content is unspecified.
  virtual Result<PhysicalId> create(Bytes size) = 0;
  /// Gives it back once it is mapped nowhere any more, at once if it is not mapped now. The id is
  /// of no more use from now on.
  virtual Status release(PhysicalId physical) = 0;

  /// Makes `size` bytes of `physical` from `offset` on appear at `address`, inside of one reserved
  /// range where nothing is mapped.
  virtual Status map(std::byte* address, PhysicalId physical, Bytes offset, Bytes size) = 0;
  /// Maps all of them, one right behind the other from `address` on, inside of one reserved range;
  /// a mapping each. Cheaper than so many calls of `map` where a call costs more than its bytes.
  /// None is mapped when one cannot be; only where taking one away again fails too is the error
  /// `device` and some stay. No ranges are nothing to do.
  ///
  /// This one calls `map` for each and, for what a failure leaves, `unmap` once. It does not see
  /// where one reserved range ends and another begins; a backend that calls it checks that.
  virtual Status map_all(std::byte* address, std::span<const PhysicalRange> ranges);
  /// Takes a range that consists of whole mappings away again.
  virtual Status unmap(std::byte* address, Bytes size) = 0;

 protected:
  VirtualMemory() = default;
};

/// A moment in the work of a stream, by number; meaningful only to its device.
enum class EventId : std::uint64_t {};

/// Something that has memory and does work in streams, each in the order of submission.
/// Thread-safe.
class STOWAGE_EXPORT Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] virtual DeviceId id() const = 0;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The ordinary one; the device owns it.
  [[nodiscard]] virtual BufferType& buffer_type() = 0;
  /// How many bytes could be had now, as far as the device can tell.
  [[nodiscard]] virtual std::optional<Bytes> free_memory() const { return std::nullopt; }
  /// Nothing where addresses and memory cannot be had apart. The device owns it.
  [[nodiscard]] virtual VirtualMemory* virtual_memory() = 0;

  /// Bytes from one host-visible address or address of this device to another, in the order of the
  /// stream. Both must stay as they are until the copy is complete. 0 bytes are nothing to do.
  virtual Status copy(StreamId stream, std::byte* to, const std::byte* from, Bytes size) = 0;
  /// The moment when all work that was submitted to the stream so far is complete.
  virtual Result<EventId> record(StreamId stream) = 0;
  /// What is submitted to the stream from now on waits for the event, though it be forgotten. Here
  /// and below an event that is not this device's, or was forgotten, is `invalid`.
  virtual Status wait(StreamId stream, EventId event) = 0;
  [[nodiscard]] virtual Result<bool> is_complete(EventId event) = 0;
  /// The caller waits.
  virtual Status synchronize(StreamId stream) = 0;
  /// Of an event that nobody asks for any more; one that does not exist is ignored. Ids are not
  /// used again.
  virtual void forget(EventId event) = 0;

 protected:
  Device() = default;
};

// --------------------------------------------------------------------------------------- registry

/// A kind of device that can be opened by name.
struct DeviceInfo {
  std::string_view name;     ///< For `open_device`: "cpu".
  std::string_view summary;  ///< One line for people; says so where this build does not have it.
  bool in_build = true;      ///< False: opening it is an error that says why.
};

/// Every kind, those that this build does not have too.
[[nodiscard]] STOWAGE_EXPORT std::span<const DeviceInfo> devices();

struct DeviceOptions {
  int ordinal = 0;                   ///< Which one, where the machine has several.
  std::optional<Bytes> memory = {};  ///< No more than this; `unsupported` where there is no limit.
};

/// Opens a device by name; "cpu" is always the same one. Fails with `unknown_name`, listing the
/// names; with `unsupported` for an option that this kind does not have; and as the kind's own
/// `make` does. Thread-safe.
STOWAGE_EXPORT Result<std::shared_ptr<Device>> open_device(std::string_view name,
                                                           const DeviceOptions& options = {});

// -------------------------------------------------------------------------------------------- CPU

/// The host: heap memory aligned to 64 bytes, and memfd-backed virtual memory where the system has
/// it. Work submitted to any stream is complete when the call returns. One for the whole program,
/// with id 0; never destroyed.
[[nodiscard]] STOWAGE_EXPORT Device& cpu_device();

struct CpuBufferOptions {
  Bytes alignment{64};  ///< Of addresses, those of buffers too; a power of two up to 1 GiB.
  std::optional<Bytes> max_size = {};
  bool map_pages =
      false;  ///< Anonymous pages of their own, with advice for huge ones, instead of the heap.
};

/// Another kind of host memory. Fails with `invalid` when the options make no sense.
STOWAGE_EXPORT Result<std::unique_ptr<BufferType>> make_cpu_buffer_type(
    std::string name, const CpuBufferOptions& options);

/// Host memory that somebody else owns, as a buffer of the CPU's type: no copy, nothing freed.
/// `memory` must outlive it and may be unaligned.
[[nodiscard]] STOWAGE_EXPORT std::unique_ptr<Buffer> borrow_buffer(std::span<std::byte> memory);

}  // namespace stowage
