#ifndef STOWAGE_C_ALLOCATOR_H
#define STOWAGE_C_ALLOCATOR_H

/// Devices, and allocators of their memory at run time. Part of stowage.h, which states the
/// conventions.

#include "stowage/c/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A device, and an allocator of its memory at run time. A device may be freed before its
/// allocators.
typedef struct stowage_device stowage_device;
typedef struct stowage_allocator stowage_allocator;

typedef struct stowage_allocator_options {
  size_t struct_size;
  uint32_t stream;     ///< Of a caching allocator: the only one that it serves.
  int32_t any_thread;  ///< Of a caching allocator: 1: any thread may use it, one at a time.
  int64_t alignment;   ///< Of every address, a power of two, at least 64; 0: 512.
  int64_t least_page;  ///< 0: 2 MiB.
  int64_t limit;       ///< Of reserved memory; 0: the device's.
  double slack;  ///< 0: 0.005. How much may be reserved beyond need before pages are stitched.
} stowage_allocator_options;

typedef struct stowage_allocator_stats {
  size_t struct_size;
  int64_t requested;
  int64_t rounded;
  int64_t reserved;
  int64_t requested_peak;
  int64_t rounded_peak;
  int64_t reserved_peak;
  int64_t largest_idle;
  uint64_t live;
  uint64_t allocations;
  uint64_t failures;
} stowage_allocator_stats;

/// "cpu", "cuda" ... (`stowage devices`); `ordinal` says which if there are several; `limit` limits
/// its memory, 0 does not.
STOWAGE_C_API stowage_status* stowage_device_open(const char* name, int32_t ordinal, int64_t limit,
                                                  stowage_device** device);
STOWAGE_C_API void stowage_device_free(stowage_device* device);

/// For one stream and one thread. `options` may be NULL, here and below.
STOWAGE_C_API stowage_status* stowage_caching_allocator_make(
    const stowage_device* device, const stowage_allocator_options* options,
    stowage_allocator** allocator);
/// For any number of streams and threads.
STOWAGE_C_API stowage_status* stowage_stream_allocator_make(
    const stowage_device* device, const stowage_allocator_options* options,
    stowage_allocator** allocator);
/// `address` becomes NULL for a size of 0.
STOWAGE_C_API stowage_status* stowage_allocate(stowage_allocator* allocator, int64_t size,
                                               uint32_t stream, void** address);
/// Frees what was allocated with this size and stream; NULL is ignored.
STOWAGE_C_API void stowage_free(stowage_allocator* allocator, void* address, int64_t size,
                                uint32_t stream);
/// Work submitted to `stream` so far uses the allocation, which belongs to another stream.
STOWAGE_C_API stowage_status* stowage_record_use(stowage_allocator* allocator, void* address,
                                                 uint32_t stream);
/// Returns idle memory to the device, and says how many bytes.
STOWAGE_C_API int64_t stowage_trim(stowage_allocator* allocator);
STOWAGE_C_API stowage_status* stowage_allocator_figures(const stowage_allocator* allocator,
                                                        stowage_allocator_stats* stats);
/// Frees live memory too. No other thread may be using it.
STOWAGE_C_API void stowage_allocator_free(stowage_allocator* allocator);

#ifdef __cplusplus
}
#endif

#endif
