#pragma once

#include <exception>
#include <string>

#include "stowage/base.hpp"

namespace stowage::detail {

/// What a failed `STOWAGE_CHECK` throws while a `CheckGuard` exists.
class STOWAGE_EXPORT CheckFailure final : public std::exception {
 public:
  explicit CheckFailure(std::string message) : message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override;

 private:
  std::string message_;
};

/// For bindings whose callers must survive a bug of this library: while one exists, a failed
/// `STOWAGE_CHECK` on its thread throws `CheckFailure`. In destructors and other functions that
/// must not throw it still aborts, as on other threads. What the library was working on must not be
/// used afterwards. Guards nest.
class STOWAGE_EXPORT CheckGuard {
 public:
  CheckGuard();
  ~CheckGuard();
  CheckGuard(const CheckGuard&) = delete;
  CheckGuard& operator=(const CheckGuard&) = delete;
};

}  // namespace stowage::detail
