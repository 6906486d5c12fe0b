#pragma once

#include <string>
#include <vector>

#include "io/onnx/shape/infer.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// Collects the values whose sizes are unknown, for one error that lists them.
class UnknownSizes {
 public:
  void add(const std::string& name, const ValueFacts& facts);
  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// Names the first ten values, each with the node at which inference stopped and the reason, and the number of the
  /// others. Precondition: not empty.
  [[nodiscard]] Error error(const std::string& file) const;

 private:
  std::vector<std::string> first_;
  std::size_t count_ = 0;
};

}  // namespace stowage::io::onnx
