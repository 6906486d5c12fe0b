#include "settings.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace stowage::torch {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

Result<bool> flag(const char* name) {
  const std::string_view value = variable(name);
  if (value.empty() || value == "0") return false;
  if (value == "1") return true;
  return Error{ErrorCode::invalid, fmt::format("{}={}: expected 0 or 1", name, value), {}};
}

Result<std::optional<Bytes>> bytes(const char* name) {
  const std::string_view value = variable(name);
  if (value.empty()) return std::optional<Bytes>();
  std::int64_t count = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (code != std::errc() || end != value.data() + value.size() || count <= 0) {
    return Error{ErrorCode::invalid, fmt::format("{}={}: expected a number of bytes", name, value), {}};
  }
  return std::optional(Bytes(count));
}

Result<Settings> from_environment() {
  Settings settings;
  STOWAGE_TRY(settings.limit, bytes("STOWAGE_TORCH_LIMIT"));
  STOWAGE_TRY(settings.plan_ahead, flag("STOWAGE_TORCH_PLAN_AHEAD"));
  STOWAGE_TRY(settings.checks, flag("STOWAGE_TORCH_CHECKS"));
  settings.log = variable("STOWAGE_TORCH_LOG");
  return settings;
}

}  // namespace

SettingsTable::SettingsTable() {
  Result<Settings> settings = from_environment();
  if (settings) {
    settings_ = std::move(*settings);
  } else {
    wrong_ = std::move(settings).error();
  }
}

Status SettingsTable::set(std::optional<Bytes> limit, bool plan_ahead, bool checks) {
  const std::lock_guard lock(mutex_);
  if (!made_.empty()) return Error{ErrorCode::invalid, "options must be set before the first allocation", {}};
  if (limit && *limit <= Bytes(0))
    return Error{ErrorCode::invalid, fmt::format("a limit of {} bytes is not allowed", limit->value()), {}};
  settings_.limit = limit;
  settings_.plan_ahead = plan_ahead;
  settings_.checks = checks;
  return Done{};
}

Status SettingsTable::set_fraction(int device, double fraction) {
  const std::lock_guard lock(mutex_);
  if (!(fraction > 0 && fraction <= 1))
    return Error{ErrorCode::invalid, fmt::format("a memory fraction of {} is not in (0, 1]", fraction), {}};
  if (made_.contains(device)) {
    const std::string text =
        fmt::format("the memory fraction of device {} must be set before the first allocation on it", device);
    return Error{ErrorCode::invalid, text, {}};
  }
  fractions_[device] = fraction;
  return Done{};
}

Result<Settings> SettingsTable::of(int device, Bytes memory) {
  const std::lock_guard lock(mutex_);
  if (wrong_) return *wrong_;
  made_[device] = true;
  Settings settings = settings_;
  if (const auto fraction = fractions_.find(device); fraction != fractions_.end()) {
    const Bytes part(static_cast<std::int64_t>(std::floor(fraction->second * static_cast<double>(memory.value()))));
    settings.limit = std::min(settings.limit.value_or(part), part);
  }
  if (!settings.log.empty() && device > 0) settings.log += fmt::format(".{}", device);
  return settings;
}

}  // namespace stowage::torch
