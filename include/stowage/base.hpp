#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// `STOWAGE_EXPORT` marks what a shared library offers to its users: every public class with
/// members that are defined in the library, and every public function. Everything else is hidden.
/// `STOWAGE_HIDDEN` takes a part of an exported class out again.
#if defined(__GNUC__)
#define STOWAGE_EXPORT __attribute__((visibility("default")))
#define STOWAGE_HIDDEN __attribute__((visibility("hidden")))
#else
#define STOWAGE_EXPORT
#define STOWAGE_HIDDEN
#endif

/// The vocabulary that every other module speaks: strong units and ids, half-open ranges, `Result`,
/// and the check macro.
///
/// Everything here is a plain value: copyable, comparable, free of global state and safe to use
/// from any thread.
namespace stowage {

// ------------------------------------------------------------------------------------------ units

/// A counted quantity that does not mix with quantities of another unit. Arithmetic does not check
/// for overflow: code that accepts numbers from outside must keep them within `kMaxBytes`
/// (`Graph::build` and `check_problem` do).
template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t value) : value_(value) {}

  [[nodiscard]] constexpr std::int64_t value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  std::int64_t value_ = 0;
};

using Bytes = Quantity<struct BytesUnit>;  ///< A size or an offset in memory.
using Step = Quantity<struct StepUnit>;    ///< A position in the execution order.

/// The largest size, offset, or sum of sizes that the library accepts: half of what the
/// representation can hold, so `offset + size` of any two accepted values cannot overflow.
inline constexpr Bytes kMaxBytes{std::int64_t{1} << 62};

/// Steps of a problem lie in (-kMaxStep, kMaxStep], so the length of any lifetime can be
/// represented.
inline constexpr Step kMaxStep{std::int64_t{1} << 62};

/// Later than every step: "never".
inline constexpr Step kNever{std::numeric_limits<std::int64_t>::max()};

/// `a + b`, or nothing when the sum exceeds `kMaxBytes`. Precondition: both are within [0,
/// kMaxBytes].
[[nodiscard]] constexpr std::optional<Bytes> add_within_limit(Bytes a, Bytes b) {
  if (a > kMaxBytes - b) return std::nullopt;
  return a + b;
}

[[nodiscard]] constexpr bool is_power_of_two(Bytes value) {
  return value.value() > 0 && (value.value() & (value.value() - 1)) == 0;
}

/// The smallest multiple of `alignment` that is at least `value`. Precondition: `alignment` is a
/// power of two, value >= 0.
[[nodiscard]] constexpr Bytes align_up(Bytes value, Bytes alignment) {
  const std::int64_t mask = alignment.value() - 1;
  return Bytes((value.value() + mask) & ~mask);
}

[[nodiscard]] constexpr bool is_aligned(Bytes value, Bytes alignment) {
  return (value.value() & (alignment.value() - 1)) == 0;
}

/// "1.5 MiB", "640 B": three significant digits in binary units, exact below 1 KiB.
[[nodiscard]] STOWAGE_EXPORT std::string to_human(Bytes bytes);

/// Reads "4096", "64KiB", "1.5 MiB", "2GB" (decimal), case-insensitive. Returns nothing for any
/// other text, a negative value, a fraction of a byte, or a value above `kMaxBytes`.
[[nodiscard]] STOWAGE_EXPORT std::optional<Bytes> parse_bytes(std::string_view text);

// ----------------------------------------------------------------------------------------- ranges

/// A half-open range [lower, upper). Empty when upper <= lower.
template <class T>
struct Range {
  T lower;
  T upper;

  [[nodiscard]] constexpr bool empty() const { return !(lower < upper); }
  [[nodiscard]] constexpr T length() const { return empty() ? T{} : upper - lower; }
  [[nodiscard]] constexpr bool contains(T value) const { return lower <= value && value < upper; }
  [[nodiscard]] constexpr bool contains(Range other) const {
    return lower <= other.lower && other.upper <= upper;
  }
  [[nodiscard]] constexpr bool overlaps(Range other) const {
    return lower < other.upper && other.lower < upper && !empty() && !other.empty();
  }
  friend constexpr auto operator<=>(const Range&, const Range&) = default;
};

using Interval = Range<Step>;    ///< A span of steps.
using ByteRange = Range<Bytes>;  ///< A span of bytes.

// -------------------------------------------------------------------------------------------- ids

/// A position in one particular list (tensors, ops, …) that does not mix with positions in another
/// list.
template <class List>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {}

  [[nodiscard]] constexpr std::size_t index() const { return index_; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  std::uint32_t index_ = 0;
};

using TensorId = Id<struct TensorList>;
using OpId = Id<struct OpList>;
using MemoryId = Id<struct MemoryList>;
using StreamId = Id<struct StreamList>;
using ArenaId = Id<struct ArenaList>;
using RingId = Id<struct RingList>;
using ScopeId = Id<struct ScopeList>;

/// The path to a body of a graph, from the root down: for each level the number of an op in its
/// scope, then that of the body among the op's bodies. Empty: the root graph.
using BodyPath = std::vector<std::uint32_t>;

// ----------------------------------------------------------------------------------------- errors

/// The kind of an `Error`, for callers that branch on it.
enum class ErrorCode : std::uint8_t {
  io,       ///< A file could not be opened, read or written.
  parse,    ///< The bytes are not what the format says.
  invalid,  ///< Well-formed, but breaks a rule of the model (a cycle, a view outside its base, …).
  unsupported,    ///< Correct, but not something this version or this operation can do.
  unknown_name,   ///< A solver, option value or tensor was named that does not exist.
  out_of_memory,  ///< No memory, pages or addresses are left for a request.
  not_reserved,   ///< The graph must be reserved before it can be allocated.
  device,         ///< The operating system or a device failed.
};

[[nodiscard]] STOWAGE_EXPORT std::string_view to_string(ErrorCode code);

/// Where in the input an error is. Every field may be absent; `to_string` omits absent ones.
struct Location {
  std::string file;                  ///< As the user gave it.
  std::optional<std::int64_t> line;  ///< From 1.
  std::string path;                  ///< Inside the file: "tensors[3].view_of.offset".

  friend bool operator==(const Location&, const Location&) = default;
};

/// A failure caused by the input or the environment. `message` names the op or tensor.
struct Error {
  ErrorCode code = ErrorCode::invalid;
  std::string message;
  Location where = {};

  friend bool operator==(const Error&, const Error&) = default;
};

/// "model.json:12: tensors[3].size: message", with control characters escaped (`printable_lines`).
[[nodiscard]] STOWAGE_EXPORT std::string to_string(const Error& error);

/// Either a value or an `Error`, with the member names of std::expected. Reading the one that is
/// absent is a bug of the caller and aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = Error;

  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by intent
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by intent

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  [[nodiscard]] T& value() &;
  [[nodiscard]] const T& value() const&;
  [[nodiscard]] T&& value() &&;
  [[nodiscard]] Error& error() &;
  [[nodiscard]] const Error& error() const&;
  [[nodiscard]] Error&& error() &&;

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

/// The success of an operation without a result.
struct Done {
  friend constexpr bool operator==(Done, Done) = default;
};
using Status = Result<Done>;

/// Whether an object looks for wrong use, which costs some time and memory.
enum class Checks : std::uint8_t {
  automatic,  ///< On in builds of the library without NDEBUG.
  on,
  off,
};

namespace detail {
[[noreturn]] STOWAGE_EXPORT void check_failed(const char* condition, const char* why,
                                              const char* file, int line);
}

/// Aborts with a message when `condition` is false. For bugs of this library only: never reachable
/// from user input.
#define STOWAGE_CHECK(condition, why) \
  ((condition) ? static_cast<void>(0) \
               : ::stowage::detail::check_failed(#condition, why, __FILE__, __LINE__))

#define STOWAGE_CONCAT_INNER(a, b) a##b
#define STOWAGE_CONCAT(a, b) STOWAGE_CONCAT_INNER(a, b)
#define STOWAGE_TRY_INNER(result, declaration, expression) \
  auto result = (expression);                              \
  if (!result) return std::move(result).error();           \
  declaration = std::move(result).value()

/// `STOWAGE_TRY(auto graph, read_graph(file));` declares `graph`, or returns the error to the
/// caller.
#define STOWAGE_TRY(declaration, expression) \
  STOWAGE_TRY_INNER(STOWAGE_CONCAT(stowage_result_, __LINE__), declaration, expression)

/// `STOWAGE_TRY_STATUS(write(file));` returns the error to the caller, if there is one.
#define STOWAGE_TRY_STATUS(expression)                     \
  do {                                                     \
    if (auto stowage_tried = (expression); !stowage_tried) \
      return std::move(stowage_tried).error();             \
  } while (false)

template <class T>
T& Result<T>::value() & {
  STOWAGE_CHECK(has_value(), "value() of a Result that holds an error");
  return *std::get_if<0>(&state_);
}
template <class T>
const T& Result<T>::value() const& {
  STOWAGE_CHECK(has_value(), "value() of a Result that holds an error");
  return *std::get_if<0>(&state_);
}
template <class T>
T&& Result<T>::value() && {
  STOWAGE_CHECK(has_value(), "value() of a Result that holds an error");
  return std::move(*std::get_if<0>(&state_));
}
template <class T>
Error& Result<T>::error() & {
  STOWAGE_CHECK(!has_value(), "error() of a Result that holds a value");
  return *std::get_if<1>(&state_);
}
template <class T>
const Error& Result<T>::error() const& {
  STOWAGE_CHECK(!has_value(), "error() of a Result that holds a value");
  return *std::get_if<1>(&state_);
}
template <class T>
Error&& Result<T>::error() && {
  STOWAGE_CHECK(!has_value(), "error() of a Result that holds a value");
  return std::move(*std::get_if<1>(&state_));
}

}  // namespace stowage

template <class List>
struct std::hash<stowage::Id<List>> {
  std::size_t operator()(stowage::Id<List> id) const noexcept { return id.index(); }
};
