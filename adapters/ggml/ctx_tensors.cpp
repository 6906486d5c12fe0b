#include <algorithm>
#include <exception>
#include <vector>

#include "chunk_buffers.hpp"

/// Allocates all tensors of a context, in as few buffers as the largest size of their type permits.
namespace stowage::ggml {
namespace {

/// Consecutive tensors that go to one buffer.
struct Batch {
  std::vector<ggml_tensor*> tensors;  ///< Including views and tensors that have data.
  std::size_t size = 0;
};

bool needs_memory(const ggml_tensor& tensor) { return !tensor.data && !tensor.buffer && !tensor.view_src; }

/// A tensor larger than the largest size gets a separate buffer: the type decides whether it can make it.
std::vector<Batch> batches_of(ggml_context* context, ggml_backend_buffer_type_t type) {
  const std::size_t alignment = ggml_backend_buft_get_alignment(type);
  const std::size_t max_size = ggml_backend_buft_get_max_size(type);
  std::vector<Batch> batches(1);
  for (ggml_tensor* t = ggml_get_first_tensor(context); t; t = ggml_get_next_tensor(context, t)) {
    const std::size_t size = needs_memory(*t) ? GGML_PAD(ggml_backend_buft_get_alloc_size(type, t), alignment) : 0;
    const std::size_t filled = batches.back().size;
    if (filled > 0 && size > 0 && (filled > max_size || size > max_size - filled)) batches.emplace_back();
    batches.back().tensors.push_back(t);
    batches.back().size += size;
  }
  // Without memory there is nothing to bind the last tensors to.
  if (batches.back().size == 0) batches.pop_back();
  return batches;
}

/// Binds tensors, and undoes that unless they are kept.
class Binder {
 public:
  Binder() = default;
  ~Binder() {
    for (const Bound& each : before_) {
      each.tensor->buffer = nullptr;
      each.tensor->data = each.data;
    }
  }
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  bool bind(ggml_tallocr& allocator, ggml_tensor* tensor) {
    const bool view = tensor->view_src != nullptr;
    if (view ? tensor->buffer != nullptr || !tensor->view_src->buffer : !needs_memory(*tensor)) return true;
    before_.push_back({tensor, tensor->data});
    const ggml_status status = view ? ggml_backend_view_init(tensor) : ggml_tallocr_alloc(&allocator, tensor);
    if (status != GGML_STATUS_SUCCESS) GGML_LOG_ERROR("%s: failed to initialize tensor %s\n", __func__, tensor->name);
    return status == GGML_STATUS_SUCCESS;
  }

  void keep() { before_.clear(); }

 private:
  struct Bound {
    ggml_tensor* tensor;
    void* data;  ///< Its previous value; a view of allocated memory has data, but no buffer.
  };
  std::vector<Bound> before_;
};

/// A buffer with room for `size` bytes after its first aligned address, which is nearly always its base.
BufferOwner make_buffer(ggml_backend_buffer_type_t type, std::size_t size) {
  BufferOwner buffer(ggml_backend_buft_alloc_buffer(type, size));
  if (buffer && ggml_tallocr_new(buffer.get()).offset + size > ggml_backend_buffer_get_size(buffer.get())) {
    buffer.reset(ggml_backend_buft_alloc_buffer(type, size + ggml_backend_buft_get_alignment(type)));
  }
  if (!buffer)
    GGML_LOG_ERROR("%s: failed to allocate %s buffer of size %zu\n", __func__, ggml_backend_buft_name(type), size);
  return buffer;
}

bool fill(const Batch& batch, ggml_backend_buffer_type_t type, Binder& binder, std::vector<BufferOwner>& buffers) {
  buffers.push_back(make_buffer(type, batch.size));
  if (!buffers.back()) return false;
  ggml_tallocr allocator = ggml_tallocr_new(buffers.back().get());
  return std::all_of(batch.tensors.begin(), batch.tensors.end(),
                     [&](ggml_tensor* tensor) { return binder.bind(allocator, tensor); });
}

ggml_backend_buffer_t seen_as_one(std::vector<BufferOwner>& buffers) {
  std::vector<ggml_backend_buffer_t> released;
  released.reserve(buffers.size());
  for (BufferOwner& buffer : buffers) released.push_back(buffer.release());
  if (released.size() == 1) return released.front();
  return ggml_backend_multi_buffer_alloc_buffer(released.data(), released.size());
}

ggml_backend_buffer_t allocate(ggml_context* context, ggml_backend_buffer_type_t type) {
  std::vector<BufferOwner> buffers;
  Binder binder;
  for (const Batch& batch : batches_of(context, type)) {
    if (!fill(batch, type, binder, buffers)) return nullptr;
  }
  ggml_backend_buffer_t const whole = buffers.empty() ? nullptr : seen_as_one(buffers);
  binder.keep();
  return whole;
}

}  // namespace
}  // namespace stowage::ggml

extern "C" {

size_t ggml_backend_alloc_ctx_tensors_from_buft_size(ggml_context* ctx, ggml_backend_buffer_type_t buft) {
  try {
    std::size_t sum = 0;
    for (const stowage::ggml::Batch& batch : stowage::ggml::batches_of(ctx, buft)) sum += batch.size;
    return sum;
  } catch (const std::exception&) {
    return 0;
  }
}

ggml_backend_buffer* ggml_backend_alloc_ctx_tensors_from_buft(ggml_context* ctx, ggml_backend_buffer_type_t buft) {
#ifdef STOWAGE_GGML_HAS_META
  if (ggml_backend_buft_is_meta(buft)) return ggml_backend_meta_alloc_ctx_tensors_from_buft(ctx, buft);
#endif
  try {
    return stowage::ggml::allocate(ctx, buft);
  } catch (const std::exception&) {
    return nullptr;
  }
}

ggml_backend_buffer* ggml_backend_alloc_ctx_tensors(ggml_context* ctx, ggml_backend_t backend) {
  return ggml_backend_alloc_ctx_tensors_from_buft(ctx, ggml_backend_get_default_buffer_type(backend));
}

}  // extern "C"
