#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "alloc/partition/families.hpp"
#include "stowage/alloc/partition.hpp"

namespace stowage::partitioning {

/// Ops that go to one backend together because they write the same memory; mostly a single op.
struct OpGroup {
  std::vector<std::size_t> ops = {};       ///< Ascending.
  std::vector<std::size_t> families = {};  ///< That these read or write; distinct.
  std::vector<bool> allowed = {};  ///< By backend: supports all of them and can use what they write. Never none.
  bool pinned = false;
};

/// The question, put such that assigning is choosing an allowed backend for every group.
struct Model {
  const Graph* graph;
  std::size_t backends = 0;
  Families families;
  std::vector<std::optional<std::size_t>> homes;  ///< By family, where given.
  std::vector<std::vector<bool>> uses;   ///< By backend, by memory: whether ops use it directly; all of a type or none.
  std::vector<const BufferType*> types;  ///< By backend.
  std::vector<OpGroup> groups;           ///< In the order of their first ops.
  std::vector<std::optional<std::size_t>> group_of_op;  ///< Absent: an op without a task.
  std::vector<std::size_t> task_ops;                    ///< Ascending.
};

/// A backend for every group.
using Assignment = std::vector<std::size_t>;

/// Fails as `partition` does.
Result<Model> make_model(const Graph& graph, std::span<const Backend> backends, const PartitionOptions& options);

/// Where the family lives under that assignment.
[[nodiscard]] std::size_t home_of(const Model& model, std::size_t family, const Assignment& assignment);

/// The backend of a task op.
[[nodiscard]] inline std::size_t backend_of(const Model& model, std::size_t op, const Assignment& assignment) {
  return assignment[*model.group_of_op[op]];
}

}  // namespace stowage::partitioning
