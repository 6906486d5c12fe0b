#pragma once

#include <functional>
#include <optional>

namespace stowage::bench {

/// How many instructions `work` takes, kernel's not included: a child process is stepped through it one by one, which
/// needs no performance counters but some microseconds an instruction. Calls `warm_up` in the child before. Nothing
/// where the system does not let a process trace its child.
[[nodiscard]] std::optional<long long> count_instructions(const std::function<void()>& warm_up,
                                                          const std::function<void()>& work);

}  // namespace stowage::bench
