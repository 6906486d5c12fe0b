#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "stowage/base.hpp"

namespace stowage::cli {

/// By how much a peak may grow: a share of the old peak, or bytes.
struct GrowthLimit {
  std::string text;  ///< As it was given.
  std::optional<double> share;
  Bytes bytes;

  [[nodiscard]] bool exceeded(Bytes before, Bytes after) const;
};

/// Adds --fail-if-grows.
CLI::Option* add_growth_option(CLI::App& command, std::optional<GrowthLimit>& limit, const std::string& help);

}  // namespace stowage::cli
