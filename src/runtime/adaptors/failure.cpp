#include <fmt/format.h>

#include "stowage/runtime/adaptors.hpp"

namespace stowage {

FailureAdaptor::FailureAdaptor(Allocator& wrapped, FailureOptions options)
    : AllocatorAdaptor(wrapped), options_(options), random_(options.seed) {}

void FailureAdaptor::restart(FailureOptions options) {
  const std::lock_guard lock(mutex_);
  options_ = options;
  random_.seed(options.seed);
  requests_ = 0;
}

std::optional<std::uint64_t> FailureAdaptor::next_fails(Bytes size) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = ++requests_;
  // Uniform in [0, 1), computed by hand because the standard's distributions differ between libraries. Always drawn, so
  // that the random failures do not depend on the other rules.
  const double draw = static_cast<double>(random_() >> 11) * 0x1p-53;
  const bool fails = number == options_.nth || (options_.every != 0 && number % options_.every == 0) ||
                     draw < options_.probability || (options_.above && size > *options_.above);
  if (!fails) return std::nullopt;
  ++injected_;
  return number;
}

Result<std::byte*> FailureAdaptor::allocate(Bytes size, StreamId stream) {
  if (size > Bytes(0)) {
    if (const auto number = next_fails(size)) {
      return Error{
          ErrorCode::out_of_memory, fmt::format("injected failure of request {}, {} bytes", *number, size.value()), {}};
    }
  }
  return wrapped().allocate(size, stream);
}

AllocatorStats FailureAdaptor::stats() const {
  AllocatorStats stats = wrapped().stats();
  const std::lock_guard lock(mutex_);
  stats.failures += injected_;
  return stats;
}

void FailureAdaptor::reset_peaks() {
  wrapped().reset_peaks();
  const std::lock_guard lock(mutex_);
  injected_ = 0;
}

}  // namespace stowage
