#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/onnx/model.hpp"

namespace stowage::io::onnx {

/// The node of a graph that reads each value last. Reading a view of a value reads the value, but whether an output
/// will be a view is not known yet: hence two bounds. Refers to the graph, which must outlive it.
class LastReads {
 public:
  /// Positions in the graph's nodes; -1: none, one past the last: the value is an output. Reads inside of bodies count
  /// as their node's.
  struct Bounds {
    std::ptrdiff_t at_least = -1;  ///< This node reads it in any case.
    std::ptrdiff_t at_most = -1;   ///< No later node does.
  };

  /// O(size of the graph, bodies included).
  explicit LastReads(const Graph& graph);

  [[nodiscard]] Bounds find(const std::string& name) const;

 private:
  void add(const Node& node, std::ptrdiff_t position);
  void add_sure_read(std::string_view name, std::ptrdiff_t position);

  std::unordered_map<std::string_view, Bounds> bounds_;
};

}  // namespace stowage::io::onnx
