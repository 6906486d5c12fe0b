#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/memory.hpp"

struct CUstream_st;  // what CUstream and cudaStream_t point to

/// NVIDIA GPUs, through the driver's library, which is loaded when it is first needed: one program
/// serves machines with and without a GPU. See docs/cuda.md.
namespace stowage {

struct CudaDeviceInfo {
  int ordinal = 0;   ///< As CUDA counts; `CUDA_VISIBLE_DEVICES` chooses and orders.
  std::string name;  ///< "NVIDIA H200".
  Bytes memory;      ///< All of it, what others have taken too.
  int compute_major = 0;
  int compute_minor = 0;
  bool virtual_memory = false;
};

/// The devices there are; none is not an error. Fails with `device`, saying what was tried, where
/// there is no driver, it cannot be used, or the library was built without CUDA. `driver`: a path,
/// or a name for the loader; empty: what the environment says in `STOWAGE_CUDA_DRIVER`, or else
/// libcuda.so.1. Thread-safe.
STOWAGE_EXPORT Result<std::vector<CudaDeviceInfo>> cuda_devices(std::string_view driver = {});

struct CudaOptions {
  int ordinal = 0;
  /// Different for devices that exist at the same time; absent: the ordinal + 1. 0 is the CPU's.
  std::optional<DeviceId> id = {};
  std::string driver = {};  ///< As for `cuda_devices`.
};

/// One GPU. Works in its primary context, the one that the CUDA runtime and torch use too, which is
/// made current for each call that needs it; whatever the calling thread had current is current
/// again when the call returns.
///
/// A stream is either adopted, which is somebody else's that must outlive the device or its last
/// use here, or own: made, without implicit order towards the default stream, when an id is first
/// used that was not adopted. Virtual memory maps whole physical memory only. The device must
/// outlive its buffers and modules, and is destroyed when the work on it is over; it waits for its
/// own streams, then gives back what is still reserved, created or mapped.
///
/// Failures of the driver carry its call, the arguments and its words: `out_of_memory` where it
/// says so, `device` otherwise. Once the process exits the driver is not called any more:
/// destructors do nothing then, and calls fail.
///
/// While a stream is captured into a graph, buffers and virtual memory may still be made, but
/// `is_complete` and `synchronize` end the capture with an error of the driver's: see
/// `is_capturing`.
class STOWAGE_EXPORT CudaDevice : public Device {
 public:
  /// Fails as `cuda_devices` does, and with `invalid` where there is no such device or the id is 0.
  static Result<std::unique_ptr<CudaDevice>> make(const CudaOptions& options = {});

  [[nodiscard]] virtual const CudaDeviceInfo& info() const = 0;
  /// Page-locked memory of the host, which copies reach without a detour and every device can. The
  /// device owns it.
  [[nodiscard]] virtual BufferType& pinned_type() = 0;

  /// An id for a stream of somebody else's, made for this GPU: the same one each time, and else the
  /// lowest that is not in use. Null is the legacy default stream. The per-thread default stream,
  /// which is a different one in each thread, is `invalid`.
  virtual Result<StreamId> adopt(::CUstream_st* stream) = 0;
  /// The driver's stream; an own one is made if need be.
  [[nodiscard]] virtual Result<::CUstream_st*> native(StreamId stream) = 0;
  /// Whether what is submitted to the stream now goes into a graph instead of being done.
  [[nodiscard]] virtual Result<bool> is_capturing(StreamId stream) = 0;
};

}  // namespace stowage
