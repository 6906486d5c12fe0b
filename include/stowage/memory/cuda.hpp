#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/memory.hpp"

struct CUstream_st;  // what CUstream and cudaStream_t point to

/// NVIDIA GPUs, through the driver library. It is loaded on first use, so that one program runs on
/// machines with and without a GPU. See docs/cuda.md.
namespace stowage {

struct CudaDeviceInfo {
  int ordinal = 0;   ///< CUDA's number of the device, subject to `CUDA_VISIBLE_DEVICES`.
  std::string name;  ///< "NVIDIA H200".
  Bytes memory;      ///< The total memory, whether in use or not.
  int compute_major = 0;
  int compute_minor = 0;
  bool virtual_memory = false;
};

/// All devices; an empty list is not an error. Fails with `device`, saying what was tried, when
/// there is no usable driver or the library was built without CUDA. `driver` is a path, or a name
/// for the loader; empty: the environment variable `STOWAGE_CUDA_DRIVER`, or else libcuda.so.1.
/// Thread-safe.
STOWAGE_EXPORT Result<std::vector<CudaDeviceInfo>> cuda_devices(std::string_view driver = {});

struct CudaOptions {
  int ordinal = 0;
  /// Must be unique among existing devices and not 0, which is the CPU. Absent: the ordinal + 1.
  std::optional<DeviceId> id = {};
  std::string driver = {};  ///< As for `cuda_devices`.
};

/// One GPU, used through its primary context, as the CUDA runtime and torch do. Calls make that
/// context current as needed and restore the calling thread's context before they return.
///
/// A stream is either adopted or owned. An adopted stream belongs to the caller and must outlive
/// the device or its last use through it. An owned stream is made when a new id is first used,
/// without implicit synchronization with the default stream. Physical memory can be mapped only as
/// a whole. The device must outlive its buffers, and all work on it must be complete when it is
/// destroyed; the destructor waits for its own streams, then frees what is still reserved, created
/// or mapped.
///
/// Driver failures are `out_of_memory` if the driver says so, otherwise `device`; the message has
/// the call, its arguments and the driver's message. Once the process is exiting, the driver is no
/// longer called: destructors do nothing and calls fail.
///
/// While a stream is being captured into a graph, buffers and virtual memory can still be made, but
/// `is_complete` and `synchronize` end the capture with a driver error: see `is_capturing`.
class STOWAGE_EXPORT CudaDevice : public Device {
 public:
  /// Fails as `cuda_devices` does, and with `invalid` when there is no such device or the id is 0.
  static Result<std::unique_ptr<CudaDevice>> make(const CudaOptions& options = {});

  [[nodiscard]] virtual const CudaDeviceInfo& info() const = 0;
  /// Page-locked host memory, which every device can access and copy directly. Owned by the device.
  [[nodiscard]] virtual BufferType& pinned_type() = 0;

  /// Returns an id for a stream of this GPU that the caller owns: the same id each time for the
  /// same stream, otherwise the lowest unused one. Null is the legacy default stream. A stream of
  /// another GPU is `invalid`, and so is the per-thread default stream, since it differs between
  /// threads.
  virtual Result<StreamId> adopt(::CUstream_st* stream) = 0;
  /// The driver's stream; an owned one is made if needed.
  [[nodiscard]] virtual Result<::CUstream_st*> native(StreamId stream) = 0;
  /// Whether work submitted to the stream is being captured into a graph instead of executed.
  [[nodiscard]] virtual Result<bool> is_capturing(StreamId stream) = 0;
};

}  // namespace stowage
