#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::bench {

/// How another program ended.
struct Ended {
  bool killed = false;  ///< It was still running at the limit.
  int exit_code = -1;   ///< -1 if a signal ended it.
  std::string errors;   ///< What it wrote to standard error.
  double wall = 0;      ///< Milliseconds, including start-up.
};

/// Runs `words`, of which the first is the program's path, without a shell, and discards its standard output. Fails
/// with `ErrorCode::io` if it cannot be started; whatever it does afterwards is not an error.
Result<Ended> run_program(const std::vector<std::string>& words, std::chrono::milliseconds limit);

/// A folder that exists as long as the object does.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace stowage::bench
