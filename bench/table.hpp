#pragma once

#include <string>
#include <vector>

namespace stowage::bench {

/// A Markdown table whose columns are as wide as their widest cell.
/// The first column is left-aligned, all others are right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

  /// Precondition: as many cells as the header has.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Prints to standard output, followed by an empty line.
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// 1234567 as "1,234,567".
[[nodiscard]] std::string with_commas(long long number);
/// "1.0123"; "1" when they are equal, so that a proven optimum can be told from a near miss.
[[nodiscard]] std::string ratio(long long peak, long long bound);

}  // namespace stowage::bench
