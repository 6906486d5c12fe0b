#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "memory/interface/cuda_compute.hpp"
#include "stowage/graph.hpp"

/// Shadow execution on a GPU: the same graph at two sets of addresses must give the same hashes.
/// Each op launches kernels on its stream: its inputs are hashed into a number of the op, then workspaces and outputs
/// are written with bytes that depend on that number. So a lost byte changes the numbers of later ops and of the
/// graph's outputs. Streams wait for each other where the graph says so, and are delayed at random. Bytes that the
/// graph never wrote are not hashed.
namespace stowage::testing {

/// The addresses of everything that a run accesses.
struct GpuAddresses {
  std::vector<std::byte*> tensors;                  ///< By tensor; null: not accessed (constants).
  std::vector<std::vector<std::byte*>> workspaces;  ///< By op.
};

class GpuShadow {
 public:
  static Result<std::unique_ptr<GpuShadow>> make(CudaDevice& device);

  /// A number for each op and one for each tensor that is an output of the graph. `seed` determines which streams are
  /// delayed. Precondition: the graph has no bodies, groups or fills.
  Result<std::vector<std::uint64_t>> run(const Graph& graph, const GpuAddresses& addresses, std::uint64_t seed);

  [[nodiscard]] std::uint64_t kernels() const { return kernels_; }  ///< Launched so far.
  [[nodiscard]] Bytes bytes() const { return bytes_; }              ///< Hashed and written so far.

 private:
  class Run;
  explicit GpuShadow(CudaDevice& device) : device_(device) {}

  CudaDevice& device_;
  std::unique_ptr<CudaModule> module_;
  std::uint64_t kernels_ = 0;
  Bytes bytes_;
};

}  // namespace stowage::testing
