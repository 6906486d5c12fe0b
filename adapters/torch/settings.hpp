#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "stowage/base.hpp"

namespace stowage::torch {

struct Settings {
  std::optional<Bytes> limit = {};
  bool plan_ahead = false;
  bool checks = false;
  std::string log = {};  ///< Path of the log file; empty: no log.
};

/// Settings can be changed until the first device is made; a device's settings never change. Thread-safe.
class SettingsTable {
 public:
  /// From the environment: STOWAGE_TORCH_LIMIT, …_PLAN_AHEAD, …_CHECKS, …_LOG. Invalid values make `of` fail.
  SettingsTable();

  /// Fails with `invalid` if the limit is negative, or if a device has already been made.
  Status set(std::optional<Bytes> limit, bool plan_ahead, bool checks);
  /// Limits the device to a fraction of its memory. Fails with `invalid` outside (0, 1], or if that device has already
  /// been made.
  Status set_fraction(int device, double fraction);
  /// The settings of a device with that much memory. From now on the device counts as made.
  Result<Settings> of(int device, Bytes memory);

 private:
  std::mutex mutex_;
  Settings settings_;
  std::optional<Error> wrong_;  ///< Error in the environment.
  std::map<int, double> fractions_;
  std::map<int, bool> made_;
};

}  // namespace stowage::torch
