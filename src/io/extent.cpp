#include "io/extent.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace stowage::io {
namespace {

/// A product of two counts, with their names.
struct Product {
  std::size_t few;
  std::string few_name;
  std::size_t many;
  std::string many_name;
  std::size_t limit;
};

std::size_t count_workspaces(const Graph& graph) {
  std::size_t count = 0;
  for (const Op& op : graph.ops()) count += op.workspaces.size();
  return count;
}

/// The streams of the root, separately for each batch, and those of bodies that use others than their op.
std::size_t count_streams(const Graph& graph) {
  if (graph.stream_count() == 1) return 1;
  const std::span<const Op> ops = graph.ops();
  std::size_t count = 0;
  for (std::size_t s = 0; s < graph.scopes().size(); ++s) {
    const Scope& scope = graph.scopes()[s];
    std::set<std::pair<std::string_view, std::size_t>> streams;
    for (std::size_t k = scope.first_op.index(); k < scope.first_op.index() + scope.op_count; ++k) {
      if (!ops[k].no_task) streams.emplace(ops[k].batch, ops[k].stream.index());
    }
    const bool as_its_op =
        s != 0 && streams.size() == 1 && streams.begin()->second == graph.op(scope.op).stream.index();
    if (!as_its_op) count += streams.size();
  }
  return count;
}

std::size_t count_hosts(const Graph& graph) {
  return static_cast<std::size_t>(std::count_if(graph.tensors().begin(), graph.tensors().end(), [](const Tensor& each) {
    return each.flags.has(TensorFlag::reusable);
  }));
}

std::size_t most_bodies(const Graph& graph) {
  std::size_t most = 0;
  for (const Scope& scope : graph.scopes()) most = std::max<std::size_t>(most, scope.body + 1);
  return most;
}

}  // namespace

Error above_limit(const std::string& what, std::size_t found, std::size_t limit) {
  return Error{ErrorCode::unsupported,
               fmt::format("{}: {} is above the limit of {}; --limit {} allows it", what, found, limit,
                           (found + limit - 1) / limit),
               {}};
}

Status check_extent(const Graph& graph, std::uint32_t times) {
  const std::size_t tensors = graph.tensors().size() + count_workspaces(graph);
  const std::size_t all = graph.ops().size() + tensors;
  const std::vector<Product> products = {
      {graph.batches().size(), "batches", all, "ops, tensors and workspaces", kMaxBatchWork},
      {count_streams(graph) - 1, "streams", all, "ops, tensors and workspaces", kMaxStreamWork},
      {most_bodies(graph) - 1, "more bodies of one branch", all, "ops, tensors and workspaces", kMaxBranchWork},
      {count_hosts(graph), "reusable buffers", tensors, "tensors and workspaces", kMaxHostWork},
  };
  for (const Product& each : products) {
    const std::size_t found = each.few * each.many;  // each is below 2^32
    if (found / times < each.limit || found <= each.limit * times) continue;
    return above_limit(fmt::format("{} {} × {} {}", each.few, each.few_name, each.many, each.many_name), found,
                       each.limit);
  }
  return Done{};
}

}  // namespace stowage::io
