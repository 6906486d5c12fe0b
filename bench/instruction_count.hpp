#pragma once

#include <functional>
#include <optional>

namespace stowage::bench {

/// The number of instructions that `work` executes, except those in the kernel. A child process is single-stepped
/// through it, which needs no performance counters but takes some microseconds per instruction. The child calls
/// `warm_up` first. Nothing if the system does not allow a process to trace its child.
[[nodiscard]] std::optional<long long> count_instructions(const std::function<void()>& warm_up,
                                                          const std::function<void()>& work);

}  // namespace stowage::bench
