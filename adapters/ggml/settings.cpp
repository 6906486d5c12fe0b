#include "settings.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace stowage::ggml {
namespace {

std::optional<std::string_view> variable(const char* name) {
  const char* const value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

}  // namespace

Settings read_settings() {
  Settings result;
  if (const auto text = variable("STOWAGE_GGML_TIME_MS")) {
    double milliseconds = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), milliseconds);
    const bool sensible =
        error == std::errc() && end == text->data() + text->size() && milliseconds >= 0 && milliseconds <= 1e6;
    if (sensible) result.time_limit = std::chrono::nanoseconds(static_cast<std::int64_t>(milliseconds * 1e6));
  }
  if (const auto name = variable("STOWAGE_GGML_REPORT")) result.report = std::string(*name);
  result.verify = variable("STOWAGE_GGML_VERIFY").value_or("0") != "0";
  return result;
}

const Settings& settings() {
  static const Settings kSettings = read_settings();
  return kSettings;
}

}  // namespace stowage::ggml
