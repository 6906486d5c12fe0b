#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/judges/shadow/hash.hpp"
#include "support/judges/shadow/shadow.hpp"

namespace stowage::testing {

/// The output of a shadow run: findings, counts, and which op wrote which bytes last.
class Journal {
 public:
  Journal(Bytes granularity, std::size_t max_findings) : granularity_(granularity), max_findings_(max_findings) {}

  /// The next run, or event of this run, begins.
  void begin_run() { ++run_, event_ = 0; }
  void next_event() { ++event_; }
  [[nodiscard]] std::size_t event() const { return event_; }

  [[nodiscard]] bool full() const { return report.findings.size() >= max_findings_; }
  void find(const std::string& finding);

  /// Remembers that `what` wrote the bytes.
  void log(std::span<const std::byte> bytes, std::string what);

  /// Compares bytes of the plan's memory with what they should be. `what` begins the sentence of the finding.
  bool compare(const Operand& found, const Operand& right, const std::string& what);
  bool compare_pattern(std::span<const std::byte> found, std::uint64_t key, const std::string& what);
  bool compare_value(std::span<const std::byte> found, std::byte value, const std::string& what);

  ShadowReport report;

 private:
  /// What the plan's memory was last written for, to say who destroyed a value.
  struct Write {
    std::span<const std::byte> bytes;
    std::string what;
  };

  void count(std::size_t cells) { report.compared += Bytes(static_cast<std::int64_t>(cells) * granularity_.value()); }
  [[nodiscard]] std::string writer(std::span<const std::byte> byte) const;
  [[nodiscard]] std::string byte_number(std::size_t cell) const;

  Bytes granularity_;
  std::size_t max_findings_;
  std::size_t run_ = 0;  ///< From 1.
  std::size_t event_ = 0;
  std::vector<Write> writes_;
};

[[nodiscard]] bool overlap(std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace stowage::testing
