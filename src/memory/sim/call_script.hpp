#pragma once

#include <array>
#include <cstdint>

#include "memory/interface/sim_device.hpp"

namespace stowage::memory {

/// Counts calls and decides which of them fail. Not thread-safe.
class SimCallScript {
 public:
  /// Makes the `nth` call of that kind from now on fail, and the `count - 1` calls after it. `nth` = 0: none.
  void fail(SimCall call, std::uint64_t nth, std::uint64_t count);
  void fail_any(std::uint64_t nth);

  /// Counts a call. Returns true if it must fail.
  [[nodiscard]] bool enter(SimCall call);

  [[nodiscard]] std::uint64_t calls(SimCall call) const { return counters_[static_cast<std::size_t>(call)].calls; }
  [[nodiscard]] std::uint64_t calls() const { return all_.calls; }

 private:
  struct Counter {
    std::uint64_t calls = 0;
    std::uint64_t first_failure = 0;  ///< Counted from 1; 0: none.
    std::uint64_t failures = 0;

    void fail(std::uint64_t nth, std::uint64_t count);
    bool enter();
  };

  std::array<Counter, kSimCalls> counters_ = {};
  Counter all_;
};

/// "allocate", "reserve", …
[[nodiscard]] std::string_view to_string(SimCall call);

}  // namespace stowage::memory
