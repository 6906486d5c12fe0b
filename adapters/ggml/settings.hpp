#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace stowage::ggml {

/// Settings from the environment.
struct Settings {
  /// STOWAGE_GGML_TIME_MS: CPU time for each memory of a graph, if the smallest size is not found at once. Most graphs
  /// need a fraction of it.
  std::chrono::nanoseconds time_limit = std::chrono::milliseconds(5);
  /// STOWAGE_GGML_REPORT: each planned graph is written to NAME-1.graph.json and NAME-1.plan.json, NAME-2…
  std::optional<std::string> report = {};
  /// STOWAGE_GGML_VERIFY=1: the verifier judges every plan; one that fails is not used.
  bool verify = false;
};

/// Settings from the current environment. Invalid values are ignored.
[[nodiscard]] Settings read_settings();

/// The settings of this process, read at the first call.
[[nodiscard]] const Settings& settings();

}  // namespace stowage::ggml
