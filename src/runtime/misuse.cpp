#include "runtime/misuse.hpp"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace stowage::runtime {

void misused(std::string_view allocator, const std::string& message) {
  fmt::print(stderr, "stowage: {}: {}\n", allocator, message);
  std::fflush(stderr);
  std::abort();
}

std::string explain_unknown(const SpanHeap& books, const std::byte* address) {
  const Span* const span = books.at(address);
  if (span == nullptr) return fmt::format("free of {}: not memory of this allocator", fmt::ptr(address));
  if (span->state == SpanState::idle || (span->pending && span->shown == address))
    return fmt::format("free of {}: not allocated (freed twice?)", fmt::ptr(address));
  return fmt::format("free of {}: not the start of an allocation, but {} bytes into one", fmt::ptr(address),
                     address - span->address);
}

std::string wrong_size(const Span& span, Bytes size) {
  if (span.requested == size) return {};
  return fmt::format("free of {} with size {}: it was allocated with size {}", fmt::ptr(span.shown), size.value(),
                     span.requested.value());
}

}  // namespace stowage::runtime
