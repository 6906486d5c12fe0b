#include "io/onnx/sort_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stowage::io::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

void add_outside_reads(const Node& node, Names& reads);

/// Adds what a body reads and does not define itself.
void add_outside_reads(const Graph& body, Names& reads) {
  Names inside;
  for (const Node& node : body.nodes) add_outside_reads(node, inside);
  for (const ValueInfo& output : body.outputs) inside.insert(output.name);
  for (const Node& node : body.nodes) {
    for (const std::string& name : node.outputs) inside.erase(name);
  }
  for (const TensorInfo& tensor : body.initializers) inside.erase(tensor.name);
  for (const ValueInfo& input : body.inputs) inside.erase(input.name);
  reads.insert(inside.begin(), inside.end());
}

void add_outside_reads(const Node& node, Names& reads) {
  reads.insert(node.inputs.begin(), node.inputs.end());
  for (const Attribute& attribute : node.attributes) {
    for (const Graph& body : attribute.graphs) add_outside_reads(body, reads);
  }
}

/// Which nodes wait for which.
struct Waiting {
  std::vector<std::vector<std::size_t>> readers;  ///< By node: those that read its outputs.
  std::vector<std::size_t> missing;               ///< By node: how many others it still waits for.
};

Waiting waiting_in(const std::vector<Node>& nodes) {
  std::unordered_map<std::string_view, std::size_t> writers;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : nodes[i].outputs) {
      if (!name.empty()) writers.emplace(name, i);
    }
  }
  Waiting waiting{std::vector<std::vector<std::size_t>>(nodes.size()), std::vector<std::size_t>(nodes.size())};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Names reads;
    add_outside_reads(nodes[i], reads);
    for (const std::string_view name : reads) {
      const auto writer = writers.find(name);
      if (writer == writers.end()) continue;
      waiting.readers[writer->second].push_back(i);
      ++waiting.missing[i];
    }
  }
  return waiting;
}

std::vector<std::size_t> order_of(const std::vector<Node>& nodes) {
  Waiting waiting = waiting_in(nodes);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (waiting.missing[i] == 0) ready.push(i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const std::size_t reader : waiting.readers[order.back()]) {
      if (--waiting.missing[reader] == 0) ready.push(reader);
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (waiting.missing[i] > 0) order.push_back(i);
  }
  return order;
}

}  // namespace

std::vector<std::string> reads_in_bodies(const Node& node) {
  Names reads;
  for (const Attribute& attribute : node.attributes) {
    for (const Graph& body : attribute.graphs) add_outside_reads(body, reads);
  }
  reads.erase("");
  std::vector<std::string> sorted(reads.begin(), reads.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

void sort_nodes(Graph& graph) {
  for (Node& node : graph.nodes) {
    for (Attribute& attribute : node.attributes)
      std::for_each(attribute.graphs.begin(), attribute.graphs.end(), sort_nodes);
  }
  const std::vector<std::size_t> order = order_of(graph.nodes);
  if (std::is_sorted(order.begin(), order.end())) return;
  std::vector<Node> sorted;
  sorted.reserve(order.size());
  for (const std::size_t index : order) sorted.push_back(std::move(graph.nodes[index]));
  graph.nodes = std::move(sorted);
}

}  // namespace stowage::io::onnx
