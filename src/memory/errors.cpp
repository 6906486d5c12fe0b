#include "memory/interface/errors.hpp"

#include <fmt/format.h>

namespace stowage::memory {

Error out_of_memory(std::string_view who, Bytes size, std::string_view why) {
  return {ErrorCode::out_of_memory, fmt::format("{}: cannot allocate {} bytes: {}", who, size.value(), why), {}};
}

Status check_range(std::string_view who, ByteRange range, Bytes size) {
  if (Bytes(0) <= range.lower && range.lower <= range.upper && range.upper <= size) return Done{};
  return Error{ErrorCode::invalid,
               fmt::format("{}: bytes [{}, {}) are not within a buffer of {} bytes", who, range.lower.value(),
                           range.upper.value(), size.value()),
               {}};
}

ByteRange range_from(Bytes offset, std::size_t length) {
  const Bytes size(static_cast<std::int64_t>(length));
  if (offset < Bytes(0) || offset > kMaxBytes || size > kMaxBytes) return {Bytes(-1), Bytes(-1)};
  return {offset, offset + size};
}

Status check_buffer_size(std::string_view type, Bytes size, std::optional<Bytes> max_size) {
  if (size < Bytes(0))
    return Error{ErrorCode::invalid, fmt::format("{}: a buffer cannot have {} bytes", type, size.value()), {}};
  const Bytes largest = max_size.value_or(kMaxBytes);
  if (size > largest) return out_of_memory(type, size, fmt::format("the largest buffer has {} bytes", largest.value()));
  return Done{};
}

}  // namespace stowage::memory
