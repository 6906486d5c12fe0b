#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>

#include "stowage/memory/cuda.hpp"

/// Running kernels on a GPU, for tests. Users launch their own: `CudaDevice` serves memory.
namespace stowage {

class CudaModule;

/// A kernel of a module, which must outlive it.
class CudaKernel {
 public:
  [[nodiscard]] const CudaModule& module() const { return *module_; }
  /// The driver's CUfunction.
  [[nodiscard]] void* native() const { return function_; }

 private:
  friend class CudaModule;
  CudaKernel(const CudaModule& module, void* function) : module_(&module), function_(function) {}

  const CudaModule* module_;
  void* function_;
};

/// Compiled code on a device, which must outlive it. Its kernels must have finished before it is destroyed.
/// Thread-safe.
class CudaModule {
 public:
  virtual ~CudaModule() = default;
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  /// Fails with `unknown_name` when the module has no kernel of that name.
  [[nodiscard]] virtual Result<CudaKernel> kernel(const std::string& name) const = 0;
  [[nodiscard]] virtual DeviceId device() const = 0;

 protected:
  CudaModule() = default;
  CudaKernel make_kernel(void* function) const { return {*this, function}; }
};

/// How many threads run a kernel, and with how much shared memory per block.
struct CudaGrid {
  std::array<unsigned, 3> blocks = {1, 1, 1};
  std::array<unsigned, 3> threads = {1, 1, 1};  ///< Per block.
  unsigned shared_bytes = 0;
};

/// What every `CudaDevice` of this library is.
class CudaComputeDevice : public CudaDevice {
 public:
  /// Compiles PTX text for this device. The error has the compiler's message.
  virtual Result<std::unique_ptr<CudaModule>> load(const std::string& ptx) = 0;
  /// Runs a kernel, in stream order. `arguments` points to the values of all its parameters, each of the parameter's
  /// type; the values are copied before the call returns. Fails with `invalid` for a grid without threads and for a
  /// kernel of another device.
  virtual Status launch(StreamId stream, const CudaKernel& kernel, const CudaGrid& grid,
                        std::span<void* const> arguments) = 0;
};

[[nodiscard]] inline CudaComputeDevice& computing(CudaDevice& device) {
  return static_cast<CudaComputeDevice&>(device);
}

}  // namespace stowage
