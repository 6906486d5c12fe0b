#include "alloc/partition/families.hpp"

#include <algorithm>
#include <optional>

#include "graph/interface/relations.hpp"

namespace stowage::partitioning {
namespace {

void add_members(const Graph& graph, Families& families) {
  std::vector<std::optional<std::size_t>> numbers(graph.tensors().size());
  std::vector<Bytes> lowest;
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const auto [representative, offset] = graph.relations().place(TensorId(t));
    std::optional<std::size_t>& number = numbers[representative.index()];
    if (!number) {
      number = families.list.size();
      families.list.emplace_back();
      lowest.push_back(offset);
    }
    lowest[*number] = std::min(lowest[*number], offset);
    families.of_tensor.push_back(*number);
    families.offsets.push_back(offset);
  }
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    Family& family = families.list[families.of_tensor[t]];
    families.offsets[t] -= lowest[families.of_tensor[t]];
    family.flags |= graph.tensors()[t].flags;
    family.size = std::max(family.size, families.offsets[t] + graph.tensors()[t].size);
    if (!graph.tensors()[t].view_of) family.roots.push_back(TensorId(t));
  }
}

/// Computes the access's bytes and adds it to its family.
void add_access(const Graph& graph, Families& families, Access access) {
  const std::size_t number = families.of_tensor[access.tensor.index()];
  Family& family = families.list[number];
  const Bytes lower = families.offsets[access.tensor.index()];
  access.bytes = {lower, lower + graph.tensor(access.tensor).size};
  if (access.write) {
    if (!family.first_write) family.first_write = access.op;
    if (family.read) family.overwritten = true;
  } else {
    if (!family.read) family.read = access.tensor;
    if (*family.read != access.tensor) family.several_read = true;
  }
  family.accesses.push_back(access);
  std::vector<std::size_t>& of_op = families.of_op[access.op];
  if (std::find(of_op.begin(), of_op.end(), number) == of_op.end()) of_op.push_back(number);
}

}  // namespace

Families find_families(const Graph& graph) {
  Families families;
  add_members(graph, families);
  families.of_op.resize(graph.ops().size());
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (op.no_task) continue;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) add_access(graph, families, {.op = k, .tensor = *input, .write = false});
    }
    for (const TensorId output : op.outputs) add_access(graph, families, {.op = k, .tensor = output, .write = true});
  }
  return families;
}

}  // namespace stowage::partitioning
