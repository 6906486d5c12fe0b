#include "stowage/base.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "stowage/base/check_guard.hpp"
#include "stowage/base/printable.hpp"

namespace stowage {
namespace {

struct UnitName {
  std::string_view name;  ///< Lower case.
  std::int64_t factor;
};

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kK = 1000;
constexpr std::array kUnits = {
    UnitName{"", 1},
    UnitName{"b", 1},
    UnitName{"kib", kKi},
    UnitName{"mib", kKi* kKi},
    UnitName{"gib", kKi* kKi* kKi},
    UnitName{"tib", kKi* kKi* kKi* kKi},
    UnitName{"k", kKi},
    UnitName{"m", kKi* kKi},
    UnitName{"g", kKi* kKi* kKi},
    UnitName{"t", kKi* kKi* kKi* kKi},
    UnitName{"kb", kK},
    UnitName{"mb", kK* kK},
    UnitName{"gb", kK* kK* kK},
    UnitName{"tb", kK* kK* kK* kK},
};

std::optional<std::int64_t> unit_factor(std::string_view text) {
  std::string lower;
  for (const char c : text) {
    if (c == ' ') continue;
    lower.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  for (const UnitName& unit : kUnits) {
    if (unit.name == lower) return unit.factor;
  }
  return std::nullopt;
}

}  // namespace

std::string to_human(Bytes bytes) {
  static constexpr std::array kNames = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const std::int64_t count = bytes.value();
  if (std::abs(count) < kKi) return fmt::format("{} B", count);
  double scaled = static_cast<double>(count) / static_cast<double>(kKi);
  std::size_t unit = 0;
  // 999.5 would print as "1e+03", so the next unit starts at that value.
  while (std::abs(scaled) >= 999.5 && unit + 1 < kNames.size()) {
    scaled /= static_cast<double>(kKi);
    ++unit;
  }
  const int decimals = std::abs(scaled) < 9.995 ? 2 : std::abs(scaled) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", scaled, decimals, kNames[unit]);
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, digits);
  const std::optional<std::int64_t> factor = unit_factor(text.substr(digits));
  if (number.empty() || !factor) return std::nullopt;

  std::int64_t whole = 0;
  const char* const end = number.data() + number.size();
  if (const auto [rest, failure] = std::from_chars(number.data(), end, whole); failure == std::errc{} && rest == end) {
    if (whole > kMaxBytes.value() / *factor) return std::nullopt;
    return Bytes(whole * *factor);
  }
  double fraction = 0;
  if (const auto [rest, failure] = std::from_chars(number.data(), end, fraction);
      failure != std::errc{} || rest != end) {
    return std::nullopt;
  }
  const double scaled = fraction * static_cast<double>(*factor);
  if (scaled > static_cast<double>(kMaxBytes.value()) || scaled != std::floor(scaled)) return std::nullopt;
  return Bytes(static_cast<std::int64_t>(scaled));
}

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::io:
      return "io";
    case ErrorCode::parse:
      return "parse";
    case ErrorCode::invalid:
      return "invalid";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::unknown_name:
      return "unknown_name";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::not_reserved:
      return "not_reserved";
    case ErrorCode::device:
      return "device";
  }
  return "unknown";
}

std::string to_string(const Error& error) {
  std::string text = printable(error.where.file);
  if (error.where.line) text += fmt::format("{}{}", text.empty() ? "line " : ":", *error.where.line);
  if (!text.empty()) text += ": ";
  if (!error.where.path.empty()) text += printable(error.where.path) + ": ";
  return text + printable_lines(error.message);
}

namespace detail {

namespace {

thread_local int check_guards = 0;

}  // namespace

const char* CheckFailure::what() const noexcept { return message_.c_str(); }

CheckGuard::CheckGuard() { ++check_guards; }
CheckGuard::~CheckGuard() { --check_guards; }

void check_failed(const char* condition, const char* why, const char* file, int line) {
  if (check_guards > 0) throw CheckFailure(fmt::format("internal error at {}:{}: {} ({})", file, line, why, condition));
  std::fprintf(stderr, "stowage: internal error at %s:%d: %s (%s)\n", file, line, why, condition);
  std::abort();
}

}  // namespace detail
}  // namespace stowage
