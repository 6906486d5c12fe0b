#include "support/fake_buffer_type.hpp"

#include <cstdlib>
#include <cstring>

namespace stowage::ggml {
namespace {

FakeBufferType& owner(ggml_backend_buffer_type_t type) { return *static_cast<FakeBufferType*>(type->context); }

/// A buffer's memory and its origin.
struct Block {
  FakeBufferType* owner;
  void* memory;
  std::size_t size;
};

Block& block_of(ggml_backend_buffer_t buffer) { return *static_cast<Block*>(buffer->context); }

void free_block(ggml_backend_buffer_t buffer) {
  Block* const block = &block_of(buffer);
  --block->owner->buffers;
  block->owner->bytes -= block->size;
  std::free(block->memory);
  delete block;
}

void* base_of(ggml_backend_buffer_t buffer) {
  return static_cast<char*>(block_of(buffer).memory) + block_of(buffer).owner->options.base_shift;
}

ggml_status init_tensor(ggml_backend_buffer_t buffer, ggml_tensor* /*tensor*/) {
  FakeBufferType& type = *block_of(buffer).owner;
  ++type.tensors;
  return type.refuses_tensor == type.tensors ? GGML_STATUS_FAILED : GGML_STATUS_SUCCESS;
}

void reset(ggml_backend_buffer_t buffer) { ++block_of(buffer).owner->resets; }

void clear(ggml_backend_buffer_t buffer, std::uint8_t value) {
  std::memset(base_of(buffer), value, block_of(buffer).size);
}

ggml_backend_buffer_t allocate(ggml_backend_buffer_type_t type, std::size_t size) {
  FakeBufferType& fake = owner(type);
  if (fake.fails_at == ++fake.allocations || size > fake.options.capacity - fake.bytes) return nullptr;
  const std::size_t room = (size + fake.options.base_shift + 255) / 256 * 256;
  auto* const block = new Block{&fake, std::aligned_alloc(256, room), size};
  ++fake.buffers;
  fake.bytes += size;
  ggml_backend_buffer_i functions{};
  functions.free_buffer = free_block;
  functions.get_base = base_of;
  functions.clear = clear;
  if (fake.options.hears_of_tensors) {
    functions.init_tensor = init_tensor;
    functions.reset = reset;
  }
  return ggml_backend_buffer_init(type, functions, block, size);
}

}  // namespace

FakeBufferType::FakeBufferType(const Options& given) : options(given) {
  type_.context = this;
  type_.iface.get_name = [](ggml_backend_buffer_type_t) { return "fake"; };
  type_.iface.alloc_buffer = allocate;
  type_.iface.get_alignment = [](ggml_backend_buffer_type_t type) { return owner(type).options.alignment; };
  type_.iface.get_max_size = [](ggml_backend_buffer_type_t type) { return owner(type).options.max_size; };
  type_.iface.is_host = [](ggml_backend_buffer_type_t type) { return owner(type).options.host; };
  if (options.padding > 0) {
    type_.iface.get_alloc_size = [](ggml_backend_buffer_type_t type, const ggml_tensor* tensor) {
      return ggml_nbytes(tensor) + (tensor->op == GGML_OP_NONE ? owner(type).options.padding : 0);
    };
  }
}

}  // namespace stowage::ggml
