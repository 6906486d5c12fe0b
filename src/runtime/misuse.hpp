#pragma once

#include <string>
#include <string_view>

#include "runtime/heap/span_heap.hpp"
#include "stowage/runtime/caching_allocator.hpp"

namespace stowage::runtime {

[[nodiscard]] constexpr bool is_on(Checks checks) {
#ifdef NDEBUG
  return checks == Checks::on;
#else
  return checks != Checks::off;
#endif
}

/// Writes the message to standard error and aborts.
[[noreturn]] void misused(std::string_view allocator, const std::string& message);

/// Explains why a heap does not know an address that is being freed.
[[nodiscard]] std::string explain_unknown(const SpanHeap& books, const std::byte* address);

/// What is wrong with freeing an allocation with this size; empty if nothing.
[[nodiscard]] std::string wrong_size(const Span& span, Bytes size);

}  // namespace stowage::runtime
