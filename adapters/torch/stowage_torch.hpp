#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

/// The functions of libstowage_torch.so, for torch.cuda.memory.CUDAPluggableAllocator and its hooks (docs/torch.md).
/// Torch's types are declared here, so that neither torch nor CUDA is needed to build. Functions that torch calls may
/// throw, as it expects; see `stowage_torch_alloc`. The others return 0 on success; on failure they return 1, and
/// `stowage_torch_last_error` has the reason. All are thread-safe.
///
/// The allocators of a device are made at the first request and never destroyed, because torch frees tensors while the
/// process exits.

struct CUstream_st;
using TorchStream = CUstream_st*;                                       // cudaStream_t
using TorchPoolId = std::pair<unsigned long long, unsigned long long>;  // c10::MempoolId_t
using TorchStreamFilter = std::function<bool(TorchStream)>;             // true: the stream's requests go to the pool

#define STOWAGE_TORCH_API __attribute__((visibility("default")))

extern "C" {

/// To be set before the first request; the environment has the defaults (docs/torch.md).
struct StowageTorchOptions {
  std::int64_t limit;  ///< Bytes of each device that may be reserved; 0: no limit.
  int plan_ahead;      ///< 1: `stowage_torch_begin_iteration` and `…_end_iteration` mark repeating work.
  int checks;          ///< 1: misuse aborts with a message.
};

/// Fails with `invalid` after the first allocation.
STOWAGE_TORCH_API int stowage_torch_configure(const StowageTorchOptions* options);
/// The reason why the calling thread's last function returned 1. Valid until the thread's next call.
STOWAGE_TORCH_API const char* stowage_torch_last_error();

// -------------------------------------------------------------------------------------------------- torch calls these

/// Returns null for 0 bytes. Torch would use a null pointer as memory, so failures are exceptions:
/// c10::OutOfMemoryError (torch.OutOfMemoryError in Python) if this torch's class can be found, else
/// std::runtime_error, also for all other failures.
STOWAGE_TORCH_API void* stowage_torch_alloc(std::size_t size, int device, TorchStream stream);
/// The same for the allocator of a torch.cuda.MemPool, which torch's own allocator calls. It returns null if memory is
/// short: torch's allocator then returns the memory that it caches, and tries again.
STOWAGE_TORCH_API void* stowage_torch_alloc_or_null(std::size_t size, int device, TorchStream stream);
STOWAGE_TORCH_API void stowage_torch_free(void* address, std::size_t size, int device, TorchStream stream);

/// Memory that is not ours is ignored, as by torch's own allocator.
STOWAGE_TORCH_API void stowage_torch_record_stream(void* address, TorchStream stream);
/// Until `…_end_pool`, requests on streams that the filter accepts come from the pool. Memory from the pool belongs to
/// the captured graph until `…_release_pool` has been called as often as `…_begin_pool`.
STOWAGE_TORCH_API void stowage_torch_begin_pool(int device, TorchPoolId pool, TorchStreamFilter filter);
STOWAGE_TORCH_API void stowage_torch_end_pool(int device, TorchPoolId pool);
STOWAGE_TORCH_API void stowage_torch_release_pool(int device, TorchPoolId pool);
/// Affects all devices.
STOWAGE_TORCH_API void stowage_torch_empty_cache();
/// Throws after the first allocation on the device.
STOWAGE_TORCH_API void stowage_torch_memory_fraction(double fraction, int device);

// ----------------------------------------------------------------------------------------------------- for any caller

/// Writes a device's statistics as a JSON object (docs/torch.md), or null if nothing was allocated on it. Returns the
/// length without the final 0; text that does not fit into the buffer is cut off.
STOWAGE_TORCH_API std::size_t stowage_torch_stats(int device, char* buffer, std::size_t capacity);
STOWAGE_TORCH_API int stowage_torch_reset_peaks();
/// Writes a PyTorch memory snapshot of all devices to a file.
STOWAGE_TORCH_API int stowage_torch_snapshot(const char* path);
/// Mark one iteration of repeating work, on all devices used so far. Fail with `invalid` without plan_ahead.
STOWAGE_TORCH_API int stowage_torch_begin_iteration();
STOWAGE_TORCH_API int stowage_torch_end_iteration();
}
