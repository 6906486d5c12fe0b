#pragma once

#include <string>
#include <vector>

#include "io/onnx/shape/infer.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// The values whose sizes could not be found out, for one error that tells of all of them.
class UnknownSizes {
 public:
  void add(const std::string& name, const ValueFacts& facts);
  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// Names the first ten with the node that stopped it and why, and how many more there are. Precondition: not empty.
  [[nodiscard]] Error error(const std::string& file) const;

 private:
  std::vector<std::string> first_;
  std::size_t count_ = 0;
};

}  // namespace stowage::io::onnx
