#include "stock_ggml.hpp"

#include <dlfcn.h>

namespace stowage::bench {
namespace {

template <class Function>
void load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

GraphAllocatorApi stock_allocator() {
  return {&ggml_gallocr_new, &ggml_gallocr_free, &ggml_gallocr_reserve, &ggml_gallocr_alloc_graph,
          &ggml_gallocr_get_buffer_size};
}

GraphAllocatorApi adapter_allocator(const char* path) {
  GraphAllocatorApi api;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return api;
  load(library, "ggml_gallocr_new", api.create);
  load(library, "ggml_gallocr_free", api.destroy);
  load(library, "ggml_gallocr_reserve", api.reserve);
  load(library, "ggml_gallocr_alloc_graph", api.allocate);
  load(library, "ggml_gallocr_get_buffer_size", api.buffer_size);
  return api;
}

}  // namespace stowage::bench
