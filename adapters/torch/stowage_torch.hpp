#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

/// The functions of libstowage_torch.so, for torch.cuda.memory.CUDAPluggableAllocator and its hooks (docs/torch.md).
/// Declarations of torch's types are our own: nothing of torch or CUDA is needed to build. Those that torch calls may
/// throw, as it expects; see `stowage_torch_alloc`. The others return 0, or 1 and leave the reason to
/// `stowage_torch_last_error`. All are thread-safe.
///
/// What serves a device is made at the first request for it and never destroyed: torch frees tensors while the process
/// exits.

struct CUstream_st;
using TorchStream = CUstream_st*;                                       // cudaStream_t
using TorchPoolId = std::pair<unsigned long long, unsigned long long>;  // c10::MempoolId_t
using TorchStreamFilter = std::function<bool(TorchStream)>;             // whose requests go to a pool

#define STOWAGE_TORCH_API __attribute__((visibility("default")))

extern "C" {

/// How devices are served. To be set before the first request; the environment sets the defaults (docs/torch.md).
struct StowageTorchOptions {
  std::int64_t limit;  ///< Bytes of each device that may be reserved; 0: as many as it has.
  int plan_ahead;      ///< 1: `stowage_torch_begin_iteration` and `…_end_iteration` mark work that repeats itself.
  int checks;          ///< 1: misuse aborts with a message.
};

/// `invalid` once something was allocated.
STOWAGE_TORCH_API int stowage_torch_configure(const StowageTorchOptions* options);
/// What the last function of the calling thread that returned 1 has to say. Valid until the thread's next call.
STOWAGE_TORCH_API const char* stowage_torch_last_error();

// ------------------------------------------------------------------------------------------------- torch calls these

/// Null for 0 bytes. Torch takes a null for memory, so that failure must be an exception: c10::OutOfMemoryError, which
/// is torch.OutOfMemoryError in Python, where this torch's can be had, and std::runtime_error otherwise and for all
/// other failures.
STOWAGE_TORCH_API void* stowage_torch_alloc(std::size_t size, int device, TorchStream stream);
/// The same for the allocator of a torch.cuda.MemPool, below torch's own one, which expects a null when memory is
/// short: it gives back what it caches and tries again.
STOWAGE_TORCH_API void* stowage_torch_alloc_or_null(std::size_t size, int device, TorchStream stream);
STOWAGE_TORCH_API void stowage_torch_free(void* address, std::size_t size, int device, TorchStream stream);

/// Memory that is not ours is ignored, as torch's own allocator does.
STOWAGE_TORCH_API void stowage_torch_record_stream(void* address, TorchStream stream);
/// Requests on streams that the filter names come from the pool until `…_end_pool`. What a pool has handed out stays
/// the graph's whose capture this is, until as many `…_release_pool` have come as there were `…_begin_pool`.
STOWAGE_TORCH_API void stowage_torch_begin_pool(int device, TorchPoolId pool, TorchStreamFilter filter);
STOWAGE_TORCH_API void stowage_torch_end_pool(int device, TorchPoolId pool);
STOWAGE_TORCH_API void stowage_torch_release_pool(int device, TorchPoolId pool);
/// Of all devices.
STOWAGE_TORCH_API void stowage_torch_empty_cache();
/// Throws once something was allocated on the device.
STOWAGE_TORCH_API void stowage_torch_memory_fraction(double fraction, int device);

// ------------------------------------------------------------------------------------------------------ for everybody

/// A JSON object, as docs/torch.md has it, of a device; null where nothing was allocated on it. Returns its length
/// without the final 0; what does not fit the buffer is left out.
STOWAGE_TORCH_API std::size_t stowage_torch_stats(int device, char* buffer, std::size_t capacity);
STOWAGE_TORCH_API int stowage_torch_reset_peaks();
/// Writes a PyTorch memory snapshot of all devices to a file.
STOWAGE_TORCH_API int stowage_torch_snapshot(const char* path);
/// One round of what repeats itself, on all devices that were used so far. `invalid` without plan_ahead.
STOWAGE_TORCH_API int stowage_torch_begin_iteration();
STOWAGE_TORCH_API int stowage_torch_end_iteration();
}
