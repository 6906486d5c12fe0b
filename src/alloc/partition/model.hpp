#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "alloc/partition/families.hpp"
#include "stowage/alloc/partition.hpp"

namespace stowage::partitioning {

/// Ops that must run on one backend because they write the same memory; usually a single op.
struct OpGroup {
  std::vector<std::size_t> ops = {};       ///< Ascending.
  std::vector<std::size_t> families = {};  ///< Read or written by these ops; each once.
  /// By backend: supports all the ops and can use the memory that they write. At least one is true.
  std::vector<bool> allowed = {};
  bool pinned = false;
};

/// The partitioning problem in a form where a solution is one allowed backend per group.
struct Model {
  const Graph* graph;
  std::size_t backends = 0;
  Families families;
  std::vector<std::optional<std::size_t>> homes;  ///< By family, where given.
  /// By backend and memory: whether ops of the backend use the memory directly. The same for all memories of one type.
  std::vector<std::vector<bool>> uses;
  std::vector<const BufferType*> types;                 ///< By backend.
  std::vector<OpGroup> groups;                          ///< In the order of their first ops.
  std::vector<std::optional<std::size_t>> group_of_op;  ///< Absent: a no_task op.
  std::vector<std::size_t> task_ops;                    ///< Ascending.
};

/// A backend for every group.
using Assignment = std::vector<std::size_t>;

/// Whether all ops, tensors and backends that are named exist.
Status check_names(const Graph& graph, std::span<const Backend> backends, const PartitionOptions& options);

/// Fails as `partition` does. Precondition: the graph has neither bodies nor rings.
Result<Model> make_model(const Graph& graph, std::span<const Backend> backends, const PartitionOptions& options);

/// The backend in whose memory the family lives under that assignment.
[[nodiscard]] std::size_t home_of(const Model& model, std::size_t family, const Assignment& assignment);

/// The backend of a task op.
[[nodiscard]] inline std::size_t backend_of(const Model& model, std::size_t op, const Assignment& assignment) {
  return assignment[*model.group_of_op[op]];
}

}  // namespace stowage::partitioning
