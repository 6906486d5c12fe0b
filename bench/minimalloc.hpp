#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "stowage/plan.hpp"

namespace stowage::bench {

/// How a peer did.
struct PeerRun {
  bool solved = false;  ///< With an answer that passed our `validate` and stays within the capacity.
  double own = 0;       ///< Milliseconds, as it says itself: solving alone.
  double wall = 0;      ///< Milliseconds of the whole process: start-up, reading and writing too.
};

/// Google's MiniMalloc by its command line (github.com/google/minimalloc). It gets a capacity and tries to stay within;
/// that it gives up is not an error. That there is no such program, or that its answer is wrong, is.
class MiniMalloc {
 public:
  explicit MiniMalloc(std::string program) : program_(std::move(program)) {}

  /// On a CSV as it lies there; `problem` is what it says.
  Result<PeerRun> run_file(const std::string& csv, const Problem& problem, Bytes capacity,
                           std::chrono::seconds limit) const;
  /// On any problem that its CSV can express; nothing for others.
  Result<std::optional<PeerRun>> run(const Problem& problem, Bytes capacity, std::chrono::seconds limit) const;

 private:
  std::string program_;
};

}  // namespace stowage::bench
