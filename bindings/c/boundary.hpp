#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "stowage/base.hpp"
#include "stowage/base/check_guard.hpp"
#include "stowage/stowage.h"

/// What every function of the C API does at its border: structs of other versions, errors, exceptions.
namespace stowage::c {

static_assert(static_cast<stowage_code>(ErrorCode::io) + 1 == STOWAGE_IO);
static_assert(static_cast<stowage_code>(ErrorCode::device) + 1 == STOWAGE_DEVICE);
[[nodiscard]] constexpr stowage_code code_of(ErrorCode code) { return static_cast<stowage_code>(code) + 1; }

/// Copies a struct of the caller, who may have an older or a newer header: fields that he does not have are 0. Null is
/// a struct of zeros. Fails with `invalid` if `struct_size` is not set, and with `unsupported` if a field that is not
/// known here is not 0.
template <class T>
Result<T> read_struct(const T* given, const char* type) {
  T copy{};
  if (!given) return copy;
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof(size));  // alone: an older struct may be shorter than T
  if (size < sizeof(size))
    return Error{
        ErrorCode::invalid, std::string(type) + ".struct_size is not set: it must be sizeof(" + type + ")", {}};
  std::memcpy(&copy, given, std::min(size, sizeof(T)));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  if (size > sizeof(T) && std::any_of(bytes + sizeof(T), bytes + size, [](unsigned char byte) { return byte != 0; }))
    return Error{ErrorCode::unsupported, std::string(type) + " has a field that this version does not know", {}};
  return copy;
}

/// Writes as much of a result as the caller's struct has room for; its `struct_size` stays.
template <class T>
void write_struct(T* to, T from) {
  const std::size_t room = to->struct_size;
  from.struct_size = room;
  std::memcpy(to, &from, std::min(room, sizeof(T)));
}

/// Fails with `invalid` if the caller's struct for a result has no size.
template <class T>
Status check_size_set(const T& to, const char* type) {
  if (to.struct_size >= sizeof(std::size_t)) return Done{};
  return Error{ErrorCode::invalid, std::string(type) + ".struct_size is not set: it must be sizeof(" + type + ")", {}};
}

[[nodiscard]] inline std::string text_or(const char* text, const char* otherwise = "") {
  return text ? text : otherwise;
}

[[nodiscard]] stowage_status* make_status(Error error, stowage_code code) noexcept;
/// The status of an exception or a failed check that is being handled.
[[nodiscard]] stowage_status* status_of_exception() noexcept;

/// Calls `body`, which returns a Status; nothing that it throws gets out.
template <class Body>
stowage_status* guarded(Body&& body) noexcept {
  try {
    const detail::CheckGuard guard;
    Status status = body();
    if (status) return nullptr;
    const stowage_code code = code_of(status.error().code);
    return make_status(std::move(status).error(), code);
  } catch (...) {
    return status_of_exception();
  }
}

[[nodiscard]] inline Error null_argument(const char* name) {
  return {ErrorCode::invalid, std::string(name) + " is NULL", {}};
}

}  // namespace stowage::c
