#pragma once

#include <memory>

#include "stowage/memory.hpp"

namespace stowage::alloc {

/// Where addresses and pages come from.
struct VirtualSource {
  Device* device = nullptr;  ///< Has virtual memory.
  Bytes address_space;       ///< Of each buffer; a multiple of the page.
  Bytes page;                ///< A multiple of the granularity.
};

/// A buffer at the start of a range of addresses that is reserved once: it grows and shrinks by pages and never moves.
/// Each page is physical memory of its own, so that each can be returned; it is released as soon as it is mapped, and
/// thus goes when it is unmapped.
///
/// Reading and writing goes through the device (stream 0) where the host cannot.
class VirtualBuffer final : public Buffer {
 public:
  /// An empty one. `type` is what it counts as.
  static Result<std::unique_ptr<VirtualBuffer>> make(BufferType& type, const VirtualSource& source);
  ~VirtualBuffer() override;

  /// Adds pages until there are `size` bytes. Fails with `out_of_memory`, naming type and size, and then changes
  /// nothing (but where a page cannot be taken away again, which then stays).
  Status grow(Bytes size);
  /// Takes pages away, from the end, as long as `size` bytes remain. Their content is lost. When the device fails,
  /// those that are gone are gone.
  Status shrink(Bytes size);

  [[nodiscard]] std::byte* base() const override { return size_ == Bytes(0) ? nullptr : range_; }
  [[nodiscard]] Bytes size() const override { return size_; }
  [[nodiscard]] const BufferType& type() const override { return type_; }
  Status fill(ByteRange range, std::uint8_t value) override;
  Status write(Bytes offset, std::span<const std::byte> from) override;
  Status read(Bytes offset, std::span<std::byte> to) const override;

  /// Of the first byte, even while there is none.
  [[nodiscard]] std::byte* range() const { return range_; }

 private:
  VirtualBuffer(BufferType& type, const VirtualSource& source, std::byte* range)
      : type_(type), source_(source), memory_(*source.device->virtual_memory()), range_(range) {}

  Status add_page();
  /// `out_of_memory` or whatever it was, in the words of the type.
  [[nodiscard]] Error in_words_of_type(const Error& error, Bytes size) const;
  [[nodiscard]] Status copy(std::byte* to, const std::byte* from, std::size_t count) const;

  BufferType& type_;
  VirtualSource source_;
  VirtualMemory& memory_;
  std::byte* range_;
  Bytes size_;
};

}  // namespace stowage::alloc
