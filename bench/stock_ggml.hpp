#pragma once

#include <ggml-alloc.h>

namespace stowage::bench {

/// A graph allocator with ggml's interface: ggml's own, or the adapter.
struct GraphAllocatorApi {
  decltype(&ggml_gallocr_new) create = nullptr;
  decltype(&ggml_gallocr_free) destroy = nullptr;
  decltype(&ggml_gallocr_reserve) reserve = nullptr;
  decltype(&ggml_gallocr_alloc_graph) allocate = nullptr;
  decltype(&ggml_gallocr_get_buffer_size) buffer_size = nullptr;
};

/// The allocator of the ggml that the program is linked with.
[[nodiscard]] GraphAllocatorApi stock_allocator();
/// The allocator of the adapter at `path`, loaded so that it does not replace ggml's functions. All functions are null
/// if it cannot be loaded.
[[nodiscard]] GraphAllocatorApi adapter_allocator(const char* path);

}  // namespace stowage::bench
