#include "io/onnx/last_reads.hpp"

#include <algorithm>

#include "io/onnx/views.hpp"

namespace stowage::io::onnx {
namespace {

/// Calls `read` for every name that the bodies of `node` read, whether it is theirs or from outside.
template <class Read>
void each_read_in_bodies(const Node& node, const Read& read) {
  for (const Attribute& attribute : node.attributes) {
    for (const Graph& body : attribute.graphs) {
      for (const Node& inner : body.nodes) {
        for (const std::string& name : inner.inputs) read(name);
        each_read_in_bodies(inner, read);
      }
      for (const ValueInfo& output : body.outputs) read(output.name);
    }
  }
}

}  // namespace

LastReads::LastReads(const Graph& graph) {
  const auto end = static_cast<std::ptrdiff_t>(graph.nodes.size());
  for (const ValueInfo& output : graph.outputs) add_sure_read(output.name, end);
  // Backwards, so that the last read of a node's outputs is known before its inputs are processed.
  for (std::ptrdiff_t i = end; i-- > 0;) add(graph.nodes[static_cast<std::size_t>(i)], i);
}

LastReads::Bounds LastReads::find(const std::string& name) const {
  const auto found = bounds_.find(name);
  return found == bounds_.end() ? Bounds() : found->second;
}

void LastReads::add_sure_read(std::string_view name, std::ptrdiff_t position) {
  Bounds& bounds = bounds_[name];
  bounds.at_least = std::max(bounds.at_least, position);
  bounds.at_most = std::max(bounds.at_most, position);
}

void LastReads::add(const Node& node, std::ptrdiff_t position) {
  each_read_in_bodies(node, [&](const std::string& name) { add_sure_read(name, position); });
  if (!may_be_view(node)) {
    for (const std::string& name : node.inputs) add_sure_read(name, position);
    return;
  }
  std::ptrdiff_t last = position;
  for (const std::string& output : node.outputs) last = std::max(last, find(output).at_most);
  for (const std::string& name : node.inputs) bounds_[name].at_most = std::max(bounds_[name].at_most, last);
}

}  // namespace stowage::io::onnx
