#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "memory/cuda/declarations.hpp"
#include "stowage/base.hpp"

namespace stowage::memory::cuda {

inline Address address_of(const std::byte* pointer) { return Address{reinterpret_cast<std::uintptr_t>(pointer)}; }
inline std::byte* pointer_to(Address address) {
  // NOLINTNEXTLINE: the driver's addresses are numbers
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}
inline std::size_t count_of(Bytes bytes) { return static_cast<std::size_t>(bytes.value()); }

/// The CUDA driver's library, loaded at run time. Thread-safe. Once loaded it is never unloaded, because the driver
/// does not support that; references to it stay valid for ever.
///
/// No driver function is called after the process has begun to exit or the driver has reported that it is
/// deinitialized. Objects that outlive that point, such as static ones, get an error from each call and may ignore it.
class Driver {
 public:
  /// Loads the library, by path or by a name for the loader, and initializes it. When `library` is empty, uses
  /// `STOWAGE_CUDA_DRIVER` or else libcuda.so.1. Fails with `device`, naming what was tried; the next call then tries
  /// again.
  static Result<const Driver*> load(std::string_view library);

  Driver(Functions functions, std::string library) : functions_(functions), library_(std::move(library)) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Example: `driver.call<&Functions::cuMemUnmap>(address, size)`. An error carries the call, its arguments and the
  /// driver's explanation; its code is `out_of_memory` if the driver says so, and `device` otherwise.
  template <auto Member, class... Arguments>
  [[nodiscard]] Status call(Arguments... arguments) const {
    const Code code = raw<Member>(arguments...);
    if (code == Code::success) return Done{};
    std::string text;
    ((text += text.empty() ? "" : ", ", text += describe(arguments)), ...);
    return error(code, kNameOf<Member>, text);
  }

  /// Like `call`, for callers that handle the driver's code themselves. Returns `deinitialized` when the driver may no
  /// longer be called.
  template <auto Member, class... Arguments>
  Code raw(Arguments... arguments) const {
    if (is_gone()) return Code::deinitialized;
    const Code code = (functions_.*Member)(arguments...);
    if (code == Code::deinitialized) gone_.store(true, std::memory_order_relaxed);
    return code;
  }

  /// For calls whose failure cannot be handled, such as those in destructors.
  template <auto Member, class... Arguments>
  void try_call(Arguments... arguments) const {
    (void)raw<Member>(arguments...);
  }

  [[nodiscard]] Error error(Code code, std::string_view name, std::string_view arguments) const;
  /// Whether the driver may no longer be called.
  [[nodiscard]] bool is_gone() const;
  [[nodiscard]] const std::string& library() const { return library_; }

 private:
  static std::string describe(Address address);
  static std::string describe(Handle handle);
  static std::string describe(const char* text);
  static std::string describe_pointer(const void* pointer);
  template <class T>
  static std::string describe(T* pointer) {
    return describe_pointer(pointer);
  }
  template <class T>
    requires std::is_enum_v<T>
  static std::string describe(T value) {
    return std::to_string(static_cast<int>(value));
  }
  template <class T>
    requires std::is_integral_v<T>
  static std::string describe(T value) {
    return std::to_string(value);
  }
  static std::string describe(std::nullptr_t) { return "null"; }

  const Functions functions_;
  const std::string library_;
  mutable std::atomic<bool> gone_{false};
};

}  // namespace stowage::memory::cuda
