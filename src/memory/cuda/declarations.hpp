#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// The driver's own names for its opaque types, so that pointers from other programs' CUDA headers have the same type.
struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUmod_st;
struct CUfunc_st;

/// Our own declarations of the CUDA driver functions that we use. Where the toolkit is installed, `header_test.cpp`
/// compares them with its header.
namespace stowage::memory::cuda {

enum class Code : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  no_device = 100,
  invalid_device = 101,
  invalid_context = 201,
  invalid_ptx = 218,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  launch_failed = 719,
  not_supported = 801,
};

using Ordinal = int;  ///< CUdevice: the number of the device.
using Context = ::CUctx_st*;
using Stream = ::CUstream_st*;
using Event = ::CUevent_st*;
using Module = ::CUmod_st*;
using Function = ::CUfunc_st*;
/// CUdeviceptr: an address of the device or, since addresses are unified, of the host.
enum class Address : unsigned long long {};
enum class Handle : unsigned long long {};  ///< CUmemGenericAllocationHandle.

enum class Attribute : int { compute_major = 75, compute_minor = 76, virtual_memory = 102 };
enum class PointerAttribute : int { memory_type = 2, device_ordinal = 9 };
enum class MemoryType : unsigned { none = 0, host = 1, device = 2 };
enum class JitOption : int { error_log = 5, error_log_size = 6 };
enum class CaptureMode : int { global = 0, thread_local_mode = 1, relaxed = 2 };
enum class CaptureStatus : int { none = 0, active = 1, invalidated = 2 };
enum class AllocationType : int { pinned = 1 };
enum class HandleType : int { none = 0 };
enum class LocationType : int { device = 1 };
enum class AccessFlags : int { read_write = 3 };
enum class GranularityKind : int { minimum = 0 };

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventWithoutTiming = 2;
inline constexpr unsigned kHostPortable = 1;
inline constexpr std::uint64_t kLegacyStream = 1;      ///< For cuGetProcAddress: stream 0 is the legacy default stream.
inline constexpr std::uintptr_t kStreamPerThread = 2;  ///< The handle of the per-thread default stream, as a number.

struct Location {
  LocationType type = LocationType::device;
  int id = 0;
};

struct AllocationProperties {
  AllocationType type = AllocationType::pinned;
  HandleType handle_types = HandleType::none;
  Location location = {};
  void* windows_attributes = nullptr;
  struct {
    unsigned char compression = 0;
    unsigned char remote_access = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
  } flags;
};

struct AccessDescription {
  Location location = {};
  AccessFlags flags = AccessFlags::read_write;
};

using GetProcAddress = Code (*)(const char* name, void** function, int version, std::uint64_t flags, int* found);

/// Every function that we use: CALL(name, version of the driver API that the parameters come from, parameters).
#define STOWAGE_CUDA_FUNCTIONS(CALL)                                                                              \
  CALL(cuInit, 2000, (unsigned flags))                                                                            \
  CALL(cuDriverGetVersion, 2020, (int* version))                                                                  \
  CALL(cuGetErrorName, 6000, (Code code, const char** text))                                                      \
  CALL(cuGetErrorString, 6000, (Code code, const char** text))                                                    \
  CALL(cuDeviceGetCount, 2000, (int* count))                                                                      \
  CALL(cuDeviceGet, 2000, (Ordinal * device, int ordinal))                                                        \
  CALL(cuDeviceGetName, 2000, (char* name, int size, Ordinal device))                                             \
  CALL(cuDeviceTotalMem, 3020, (std::size_t* bytes, Ordinal device))                                              \
  CALL(cuDeviceGetAttribute, 2000, (int* value, Attribute attribute, Ordinal device))                             \
  CALL(cuDevicePrimaryCtxRetain, 7000, (Context * context, Ordinal device))                                       \
  CALL(cuDevicePrimaryCtxRelease, 11000, (Ordinal device))                                                        \
  CALL(cuCtxGetCurrent, 4000, (Context * context))                                                                \
  CALL(cuCtxPushCurrent, 4000, (Context context))                                                                 \
  CALL(cuCtxPopCurrent, 4000, (Context * context))                                                                \
  CALL(cuCtxGetDevice, 2000, (Ordinal * device))                                                                  \
  CALL(cuMemGetInfo, 3020, (std::size_t* free, std::size_t* total))                                               \
  CALL(cuMemAlloc, 3020, (Address * address, std::size_t size))                                                   \
  CALL(cuMemFree, 3020, (Address address))                                                                        \
  CALL(cuMemHostAlloc, 2020, (void** address, std::size_t size, unsigned flags))                                  \
  CALL(cuMemFreeHost, 2000, (void* address))                                                                      \
  CALL(cuMemcpyAsync, 4000, (Address to, Address from, std::size_t size, Stream stream))                          \
  CALL(cuMemsetD8Async, 3020, (Address to, unsigned char value, std::size_t size, Stream stream))                 \
  CALL(cuPointerGetAttribute, 4000, (void* value, PointerAttribute attribute, Address address))                   \
  CALL(cuStreamCreate, 2000, (Stream * stream, unsigned flags))                                                   \
  CALL(cuStreamDestroy, 4000, (Stream stream))                                                                    \
  CALL(cuStreamSynchronize, 2000, (Stream stream))                                                                \
  CALL(cuStreamWaitEvent, 3020, (Stream stream, Event event, unsigned flags))                                     \
  CALL(cuStreamIsCapturing, 10000, (Stream stream, CaptureStatus * status))                                       \
  CALL(cuStreamGetCtx, 9020, (Stream stream, Context * context))                                                  \
  CALL(cuThreadExchangeStreamCaptureMode, 10010, (CaptureMode * mode))                                            \
  CALL(cuEventCreate, 2000, (Event * event, unsigned flags))                                                      \
  CALL(cuEventDestroy, 4000, (Event event))                                                                       \
  CALL(cuEventRecord, 2000, (Event event, Stream stream))                                                         \
  CALL(cuEventQuery, 2000, (Event event))                                                                         \
  CALL(cuMemGetAllocationGranularity, 10020,                                                                      \
       (std::size_t* granularity, const AllocationProperties* properties, GranularityKind kind))                  \
  CALL(cuMemAddressReserve, 10020,                                                                                \
       (Address * address, std::size_t size, std::size_t alignment, Address wish, unsigned long long flags))      \
  CALL(cuMemAddressFree, 10020, (Address address, std::size_t size))                                              \
  CALL(cuMemCreate, 10020,                                                                                        \
       (Handle * handle, std::size_t size, const AllocationProperties* properties, unsigned long long flags))     \
  CALL(cuMemRelease, 10020, (Handle handle))                                                                      \
  CALL(cuMemMap, 10020,                                                                                           \
       (Address address, std::size_t size, std::size_t offset, Handle handle, unsigned long long flags))          \
  CALL(cuMemUnmap, 10020, (Address address, std::size_t size))                                                    \
  CALL(cuMemSetAccess, 10020,                                                                                     \
       (Address address, std::size_t size, const AccessDescription* descriptions, std::size_t count))             \
  CALL(cuModuleLoadDataEx, 2010,                                                                                  \
       (Module * module, const void* image, unsigned option_count, JitOption* options, void** option_values))     \
  CALL(cuModuleUnload, 2000, (Module module))                                                                     \
  CALL(cuModuleGetFunction, 2000, (Function * function, Module module, const char* name))                         \
  CALL(cuLaunchKernel, 4000,                                                                                      \
       (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
        unsigned block_z, unsigned shared_bytes, Stream stream, void** arguments, void** extra))

/// One pointer per function, under the driver's name.
struct Functions {
#define STOWAGE_CUDA_POINTER(name, version, parameters) Code(*name) parameters = nullptr;
  STOWAGE_CUDA_FUNCTIONS(STOWAGE_CUDA_POINTER)
#undef STOWAGE_CUDA_POINTER
};

/// "cuMemMap", for messages. (gcc 12 exports specializations unless told otherwise.)
template <auto Member>
inline constexpr std::string_view kNameOf = {};
#define STOWAGE_CUDA_NAME(name, version, parameters) \
  template <>                                        \
  [[gnu::visibility("hidden")]] inline constexpr std::string_view kNameOf<&Functions::name> = #name;
STOWAGE_CUDA_FUNCTIONS(STOWAGE_CUDA_NAME)
#undef STOWAGE_CUDA_NAME

}  // namespace stowage::memory::cuda
