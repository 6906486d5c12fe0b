#pragma once

#include <ggml-alloc.h>

namespace stowage::bench {

/// One of two graph allocators with the same interface.
struct GraphAllocatorApi {
  decltype(&ggml_gallocr_new) create = nullptr;
  decltype(&ggml_gallocr_free) destroy = nullptr;
  decltype(&ggml_gallocr_reserve) reserve = nullptr;
  decltype(&ggml_gallocr_alloc_graph) allocate = nullptr;
  decltype(&ggml_gallocr_get_buffer_size) buffer_size = nullptr;
};

/// That of the ggml that the program is linked to.
[[nodiscard]] GraphAllocatorApi stock_allocator();
/// That of the adapter at `path`, loaded so that the two do not get in each other's way. Its functions are null when it
/// cannot be loaded.
[[nodiscard]] GraphAllocatorApi adapter_allocator(const char* path);

}  // namespace stowage::bench
