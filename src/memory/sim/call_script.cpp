#include "memory/sim/call_script.hpp"

namespace stowage::memory {

void SimCallScript::Counter::fail(std::uint64_t nth, std::uint64_t count) {
  first_failure = nth == 0 ? 0 : calls + nth;
  failures = count;
}

bool SimCallScript::Counter::enter() {
  ++calls;
  return first_failure != 0 && calls >= first_failure && calls - first_failure < failures;
}

void SimCallScript::fail(SimCall call, std::uint64_t nth, std::uint64_t count) {
  counters_[static_cast<std::size_t>(call)].fail(nth, count);
}

void SimCallScript::fail_any(std::uint64_t nth) { all_.fail(nth, 1); }

bool SimCallScript::enter(SimCall call) {
  const bool kind_fails = counters_[static_cast<std::size_t>(call)].enter();
  const bool any_fails = all_.enter();
  return kind_fails || any_fails;
}

std::string_view to_string(SimCall call) {
  constexpr std::array<std::string_view, kSimCalls> kNames = {"allocate", "reserve", "create", "map",  "unmap",
                                                              "copy",     "fill",    "record", "wait", "synchronize"};
  return kNames[static_cast<std::size_t>(call)];
}

}  // namespace stowage::memory
