#pragma once

#include <memory>

#include "stowage/memory/cuda.hpp"
#include "support/judges/program_run/machine.hpp"

namespace stowage::testing {

/// A GPU: the work of an op is one kernel for each range that it reads or writes. `device` must outlive it.
[[nodiscard]] Result<std::unique_ptr<Machine>> make_gpu_machine(CudaDevice& device);

}  // namespace stowage::testing
