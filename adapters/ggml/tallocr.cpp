#include <cstdint>

#include "ggml_headers.hpp"

/// ggml's linear allocator over one buffer.
namespace {

/// The first offset from `offset` on whose address is a multiple of `alignment`, a power of two.
std::size_t aligned_offset(const void* base, std::size_t offset, std::size_t alignment) {
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(base) + offset;
  return offset + ((0 - address) & (alignment - 1));
}

}  // namespace

extern "C" {

ggml_tallocr ggml_tallocr_new(ggml_backend_buffer_t buffer) {
  void* const base = ggml_backend_buffer_get_base(buffer);
  const std::size_t alignment = ggml_backend_buffer_get_alignment(buffer);
  return {.buffer = buffer, .base = base, .alignment = alignment, .offset = aligned_offset(base, 0, alignment)};
}

/// If the buffer has no room, allocator and tensor stay unchanged; ggml's own allocator would abort the program.
ggml_status ggml_tallocr_alloc(ggml_tallocr* talloc, ggml_tensor* tensor) {
  const std::size_t room = ggml_backend_buffer_get_size(talloc->buffer);
  const std::size_t size =
      aligned_offset(nullptr, ggml_backend_buffer_get_alloc_size(talloc->buffer, tensor), talloc->alignment);
  if (talloc->offset > room || size > room - talloc->offset) {
    GGML_LOG_ERROR("%s: not enough space in the buffer to allocate %s (needed %zu, available %zu)\n", __func__,
                   tensor->name, size, talloc->offset > room ? 0 : room - talloc->offset);
    return GGML_STATUS_ALLOC_FAILED;
  }
  void* const address = static_cast<char*>(talloc->base) + talloc->offset;
  talloc->offset += size;
  return ggml_backend_tensor_alloc(talloc->buffer, tensor, address);
}

}  // extern "C"
