#include <new>

#include "memory/cpu/cpu.hpp"

namespace stowage::memory {
namespace {

std::align_val_t alignment_of(const BufferType& type) { return std::align_val_t(type.alignment().value()); }

class HeapBuffer final : public HostBuffer {
 public:
  using HostBuffer::HostBuffer;
  ~HeapBuffer() override { ::operator delete(base(), alignment_of(type())); }
};

}  // namespace

std::unique_ptr<Buffer> allocate_heap(const BufferType& type, Bytes size) {
  const auto count = static_cast<std::size_t>(size.value());
  void* const memory = ::operator new(count, alignment_of(type), std::nothrow);
  if (memory == nullptr) return nullptr;
  return std::make_unique<HeapBuffer>(type, std::span(static_cast<std::byte*>(memory), count));
}

}  // namespace stowage::memory
