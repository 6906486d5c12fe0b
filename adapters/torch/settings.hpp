#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "stowage/base.hpp"

namespace stowage::torch {

/// How a device is to be served.
struct Settings {
  std::optional<Bytes> limit = {};
  bool plan_ahead = false;
  bool checks = false;
  std::string log = {};  ///< A file; empty: none.
};

/// Before the first device is made they can be changed; from then on those of a device are fixed. Thread-safe.
class SettingsTable {
 public:
  /// From the environment: STOWAGE_TORCH_LIMIT, …_PLAN_AHEAD, …_CHECKS, …_LOG. What makes no sense there is an error of
  /// `of`.
  SettingsTable();

  /// Fails with `invalid` below 0 bytes, and once a device was made.
  Status set(std::optional<Bytes> limit, bool plan_ahead, bool checks);
  /// Of all memory that the device has. Fails with `invalid` outside of (0, 1], and once that device was made.
  Status set_fraction(int device, double fraction);
  /// For a device with that much memory, which is made now.
  Result<Settings> of(int device, Bytes memory);

 private:
  std::mutex mutex_;
  Settings settings_;
  std::optional<Error> wrong_;  ///< In the environment.
  std::map<int, double> fractions_;
  std::map<int, bool> made_;
};

}  // namespace stowage::torch
