#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/onnx/shape/infer.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// Collects the values whose sizes are unknown, for one error that lists them.
class UnknownSizes {
 public:
  /// A place at which inference stopped, why, and how many values are unknown because of it.
  struct Cause {
    std::string where;
    std::string reason;
    std::size_t values = 0;
  };

  void add(const std::string& name, const ValueFacts& facts);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// In the order in which they were found.
  [[nodiscard]] const std::vector<Cause>& causes() const { return causes_; }

  /// Names the first ten values, each with the node at which inference stopped and the reason, and the number of the
  /// others. `options` are those that would help (`missing_options`). Precondition: not empty.
  [[nodiscard]] Error error(const std::string& file, const std::string& options) const;

 private:
  std::vector<std::string> first_;
  std::vector<Cause> causes_;
  std::map<std::pair<std::string, std::string>, std::size_t> cause_at_;  ///< By place and reason.
  std::size_t count_ = 0;
};

}  // namespace stowage::io::onnx
