// Other allocators on a GPU, with a C interface: PyTorch's caching allocator, cudaMallocAsync and cudaMalloc.
//
// Not part of the build, which needs neither torch nor CUDA: bench/gpu/run.sh builds it on a machine that has both, and
// passes it to stowage_gpu_bench.

#include <cstddef>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

namespace {

void* torch_allocate(std::size_t size, cudaStream_t stream) {
  return c10::cuda::CUDACachingAllocator::raw_alloc_with_stream(size, stream);
}
void torch_free(void* address, cudaStream_t) { c10::cuda::CUDACachingAllocator::raw_delete(address); }

void* async_allocate(std::size_t size, cudaStream_t stream) {
  void* address = nullptr;
  return cudaMallocAsync(&address, size, stream) == cudaSuccess ? address : nullptr;
}
void async_free(void* address, cudaStream_t stream) { cudaFreeAsync(address, stream); }

void* plain_allocate(std::size_t size, cudaStream_t) {
  void* address = nullptr;
  return cudaMalloc(&address, size) == cudaSuccess ? address : nullptr;
}
void plain_free(void* address, cudaStream_t) { cudaFree(address); }

}  // namespace

/// The same type as in bench/gpu/gpu_bench.cpp.
struct StowagePeer {
  const char* name;
  void* (*allocate)(std::size_t, cudaStream_t);
  void (*free)(void*, cudaStream_t);
};

/// The list ends with a null name. Must be called once, after the device's context was made.
extern "C" const StowagePeer* stowage_peers() {
  static const StowagePeer peers[] = {{"torch", torch_allocate, torch_free},
                                      {"cudaMallocAsync", async_allocate, async_free},
                                      {"cudaMalloc", plain_allocate, plain_free},
                                      {nullptr, nullptr, nullptr}};
  cudaSetDevice(0);
  c10::cuda::CUDACachingAllocator::init(1);
  cudaMemPool_t pool = nullptr;
  if (cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess) {
    unsigned long long keep = ~0ULL;  // freed memory stays in the pool, as with a caching allocator
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
  }
  return peers;
}
