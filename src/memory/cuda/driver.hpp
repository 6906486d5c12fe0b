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
  return reinterpret_cast<std::byte*>(
      static_cast<std::uintptr_t>(address));  // NOLINT: the driver's addresses are numbers
}
inline std::size_t count_of(Bytes bytes) { return static_cast<std::size_t>(bytes.value()); }

/// The CUDA driver's library, loaded at run time. Thread-safe. Once loaded it stays, for the driver does not bear being
/// unloaded; so it may be referred to for ever.
///
/// No function is called any more once the process exits or the driver has said that it is deinitialized: whatever
/// outlives that, static objects above all, gets an error from a call and may ignore it.
class Driver {
 public:
  /// The library at a path or of a name for the loader; empty: what `STOWAGE_CUDA_DRIVER` says, or else libcuda.so.1.
  /// Initialized. Fails with `device`, naming what was tried, and is tried anew by the next call then.
  static Result<const Driver*> load(std::string_view library);

  Driver(Functions functions, std::string library) : functions_(functions), library_(std::move(library)) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// `driver.call<&Functions::cuMemUnmap>(address, size)`. An error carries the call, its arguments, and the driver's
  /// words: `out_of_memory` when that is what the driver says, and `device` otherwise.
  template <auto Member, class... Arguments>
  [[nodiscard]] Status call(Arguments... arguments) const {
    const Code code = raw<Member>(arguments...);
    if (code == Code::success) return Done{};
    std::string text;
    ((text += text.empty() ? "" : ", ", text += describe(arguments)), ...);
    return error(code, kNameOf<Member>, text);
  }

  /// The same where failure is not, or not only, an error. `deinitialized` when nothing may be called any more.
  template <auto Member, class... Arguments>
  Code raw(Arguments... arguments) const {
    if (is_gone()) return Code::deinitialized;
    const Code code = (functions_.*Member)(arguments...);
    if (code == Code::deinitialized) gone_.store(true, std::memory_order_relaxed);
    return code;
  }

  /// Calls that nothing can be done about when they fail: those of destructors.
  template <auto Member, class... Arguments>
  void try_call(Arguments... arguments) const {
    (void)raw<Member>(arguments...);
  }

  /// `Error` of a call that returned `code`.
  [[nodiscard]] Error error(Code code, std::string_view name, std::string_view arguments) const;
  /// Whether nothing may be called any more.
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
