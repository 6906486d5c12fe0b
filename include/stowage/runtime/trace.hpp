#pragma once

#include <cstdint>
#include <vector>

#include "stowage/base.hpp"

namespace stowage {

/// What a program asked of its allocator, in order.
struct Trace {
  enum class Action : std::uint8_t { allocate, free };
  struct Event {
    Action action = Action::allocate;
    std::uint32_t allocation = 0;  ///< Which one, from 0 in the order of allocation. A number is used once.
    Bytes size;                    ///< As requested.
    StreamId stream;               ///< A free's may be another than its allocation's.

    friend bool operator==(const Event&, const Event&) = default;
  };
  std::vector<Event> events;  ///< Every free names an allocation before it that is not freed yet.
  std::uint32_t allocations = 0;

  friend bool operator==(const Trace&, const Trace&) = default;
};

}  // namespace stowage
