#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stowage::memory::cuda {

/// How tests steer the fake driver, a library with the functions of the real one for machines without a GPU: two
/// devices in host memory, on which everything is done when the call returns. It is stricter than the real one: a call
/// that violates a documented rule of the driver, or a rule of ours (the right context is current; no needless calls),
/// is refused and adds a line to `violations`. Thread-safe.
class FakeDriver {
 public:
  virtual ~FakeDriver() = default;

  /// Resets everything to the initial state, except for existing objects.
  virtual void reset() = 0;
  /// The `nth` call from now on (1: the next one) returns `code` and does nothing. 0: none. Calls that ask for the text
  /// of
  /// an error are not counted.
  virtual void fail(std::uint64_t nth, int code) = 0;
  /// The name of the call that failed this way; empty: none yet.
  [[nodiscard]] virtual std::string failed() const = 0;
  [[nodiscard]] virtual std::uint64_t calls() const = 0;
  [[nodiscard]] virtual std::uint64_t calls(std::string_view name) const = 0;

  /// Events are complete, or not.
  virtual void set_complete(bool complete) = 0;
  virtual void set_capturing(bool capturing) = 0;
  /// Every call from now on says that the driver is deinitialized; any after the first is a violation.
  virtual void deinitialize() = 0;
  /// A function that this driver lacks, as an old version would. Empty: none.
  virtual void hide(std::string_view name) = 0;
  virtual void set_device_count(int count) = 0;

  [[nodiscard]] virtual std::vector<std::string> violations() const = 0;
  /// Contexts, streams, events, modules, memory, reservations, handles and mappings that still exist.
  [[nodiscard]] virtual std::vector<std::string> live_objects() const = 0;
  /// Forgets them, for tests that leave some on purpose.
  virtual void drop_objects() = 0;
};

/// The library's one symbol besides cuGetProcAddress_v2: `FakeDriver* stowage_fake_cuda()`.
using GetFakeDriver = FakeDriver* (*)();
inline constexpr const char* kFakeSymbol = "stowage_fake_cuda";

}  // namespace stowage::memory::cuda
