#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace stowage::ggml {

/// What the environment says, read once when it is first asked for.
struct Settings {
  /// STOWAGE_GGML_TIME_MS: of work on one memory of one graph where the least is not found at once. Most graphs need a
  /// fraction.
  std::chrono::nanoseconds time_limit = std::chrono::milliseconds(5);
  /// STOWAGE_GGML_REPORT: each graph that is planned is written to NAME-1.graph.json and NAME-1.plan.json, NAME-2…
  std::optional<std::string> report = {};
  /// STOWAGE_GGML_VERIFY=1: every plan is judged by the verifier; one that does not pass is not used.
  bool verify = false;
};

/// Settings from the environment as it is now. What makes no sense there is as good as absent.
[[nodiscard]] Settings read_settings();

/// Those of this process.
[[nodiscard]] const Settings& settings();

}  // namespace stowage::ggml
