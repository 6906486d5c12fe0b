#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "stowage/plan.hpp"

namespace stowage::bench {

/// The result of a peer.
struct PeerRun {
  bool solved = false;  ///< It gave an answer that passed our `validate` and is within the capacity.
  double own = 0;       ///< Milliseconds by its own clock: solving only.
  double wall = 0;      ///< Milliseconds for the whole process, including start-up, reading and writing.
};

/// Runs Google's MiniMalloc (github.com/google/minimalloc) by its command line. It is given a capacity and tries to
/// stay within it. It is not an error if it gives up; it is one if the program does not exist or its answer is wrong.
class MiniMalloc {
 public:
  explicit MiniMalloc(std::string program) : program_(std::move(program)) {}

  /// Runs on an existing CSV file; `problem` is its content.
  Result<PeerRun> run_file(const std::string& csv, const Problem& problem, Bytes capacity,
                           std::chrono::seconds limit) const;
  /// Runs on any problem that its CSV format can express; returns nothing for others.
  Result<std::optional<PeerRun>> run(const Problem& problem, Bytes capacity, std::chrono::seconds limit) const;

 private:
  std::string program_;
};

}  // namespace stowage::bench
