/// Compares our declarations of the driver with the toolkit's header, where it is installed. Compiling is the test;
/// there is nothing to run.
#include <type_traits>

#include <cuda.h>
#include <cudaTypedefs.h>

#include "memory/cuda/declarations.hpp"

namespace stowage::memory::cuda {
namespace {

/// Passed in the same way: pointers as pointers, numbers and enumerations as numbers of the same size.
template <class Ours, class Theirs>
constexpr bool kAlike = sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
                        (std::is_pointer_v<Ours> || ((std::is_integral_v<Ours> || std::is_enum_v<Ours>) &&
                                                     (std::is_integral_v<Theirs> || std::is_enum_v<Theirs>)));

/// Types behind a pointer have the same size; types that are opaque are the same type.
template <class Ours, class Theirs>
constexpr bool same_pointee() {
  if constexpr (!std::is_pointer_v<Ours>) {
    return true;
  } else {
    using A = std::remove_cv_t<std::remove_pointer_t<Ours>>;
    using B = std::remove_cv_t<std::remove_pointer_t<Theirs>>;
    if constexpr (std::is_same_v<A, B>) {
      return true;
    } else if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
      return false;
    } else {
      return sizeof(A) == sizeof(B);
    }
  }
}

template <class Ours, class Theirs>
struct Agree : std::false_type {};
template <class R1, class... A1, class R2, class... A2>
  requires(sizeof...(A1) == sizeof...(A2))
struct Agree<R1 (*)(A1...), R2 (*)(A2...)>
    : std::bool_constant<kAlike<R1, R2> && ((kAlike<A1, A2> && same_pointee<A1, A2>()) && ...)> {};

#define STOWAGE_CUDA_AGREE(name, version, parameters) \
  static_assert(Agree<decltype(Functions::name), PFN_##name##_v##version>::value, #name " is declared otherwise");
STOWAGE_CUDA_FUNCTIONS(STOWAGE_CUDA_AGREE)
#undef STOWAGE_CUDA_AGREE
static_assert(Agree<GetProcAddress, PFN_cuGetProcAddress_v12000>::value);

template <class Ours, class Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  return static_cast<long long>(ours) == static_cast<long long>(theirs);
}

static_assert(same(Code::success, CUDA_SUCCESS) && same(Code::invalid_value, CUDA_ERROR_INVALID_VALUE));
static_assert(same(Code::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY) && same(Code::not_ready, CUDA_ERROR_NOT_READY));
static_assert(same(Code::not_initialized, CUDA_ERROR_NOT_INITIALIZED) &&
              same(Code::deinitialized, CUDA_ERROR_DEINITIALIZED));
static_assert(same(Code::no_device, CUDA_ERROR_NO_DEVICE) && same(Code::invalid_device, CUDA_ERROR_INVALID_DEVICE));
static_assert(same(Code::invalid_context, CUDA_ERROR_INVALID_CONTEXT) &&
              same(Code::invalid_ptx, CUDA_ERROR_INVALID_PTX));
static_assert(same(Code::invalid_handle, CUDA_ERROR_INVALID_HANDLE) && same(Code::not_found, CUDA_ERROR_NOT_FOUND));
static_assert(same(Code::launch_failed, CUDA_ERROR_LAUNCH_FAILED) &&
              same(Code::not_supported, CUDA_ERROR_NOT_SUPPORTED));
static_assert(same(Attribute::compute_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
static_assert(same(Attribute::compute_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
static_assert(same(Attribute::virtual_memory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED));
static_assert(same(PointerAttribute::memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE));
static_assert(same(PointerAttribute::device_ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL));
static_assert(same(MemoryType::host, CU_MEMORYTYPE_HOST) && same(MemoryType::device, CU_MEMORYTYPE_DEVICE));
static_assert(same(JitOption::error_log, CU_JIT_ERROR_LOG_BUFFER));
static_assert(same(JitOption::error_log_size, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
static_assert(same(CaptureMode::global, CU_STREAM_CAPTURE_MODE_GLOBAL));
static_assert(same(CaptureMode::thread_local_mode, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
static_assert(same(CaptureMode::relaxed, CU_STREAM_CAPTURE_MODE_RELAXED));
static_assert(same(CaptureStatus::none, CU_STREAM_CAPTURE_STATUS_NONE));
static_assert(same(CaptureStatus::active, CU_STREAM_CAPTURE_STATUS_ACTIVE));
static_assert(same(CaptureStatus::invalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED));
static_assert(same(AllocationType::pinned, CU_MEM_ALLOCATION_TYPE_PINNED) &&
              same(HandleType::none, CU_MEM_HANDLE_TYPE_NONE));
static_assert(same(LocationType::device, CU_MEM_LOCATION_TYPE_DEVICE));
static_assert(same(AccessFlags::read_write, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
static_assert(same(GranularityKind::minimum, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
static_assert(same(kStreamNonBlocking, CU_STREAM_NON_BLOCKING) && same(kEventWithoutTiming, CU_EVENT_DISABLE_TIMING));
static_assert(same(kHostPortable, CU_MEMHOSTALLOC_PORTABLE) && same(kLegacyStream, CU_GET_PROC_ADDRESS_LEGACY_STREAM));

static_assert(sizeof(Location) == sizeof(CUmemLocation) && offsetof(Location, id) == offsetof(CUmemLocation, id));
static_assert(sizeof(AllocationProperties) == sizeof(CUmemAllocationProp));
static_assert(offsetof(AllocationProperties, handle_types) == offsetof(CUmemAllocationProp, requestedHandleTypes));
static_assert(offsetof(AllocationProperties, location) == offsetof(CUmemAllocationProp, location));
static_assert(offsetof(AllocationProperties, windows_attributes) == offsetof(CUmemAllocationProp, win32HandleMetaData));
static_assert(offsetof(AllocationProperties, flags) == offsetof(CUmemAllocationProp, allocFlags));
static_assert(sizeof(AccessDescription) == sizeof(CUmemAccessDesc));
static_assert(offsetof(AccessDescription, flags) == offsetof(CUmemAccessDesc, flags));

}  // namespace
}  // namespace stowage::memory::cuda
