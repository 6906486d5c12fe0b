#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage::partitioning {

/// A task op reads or writes a tensor.
struct Access {
  std::size_t op = 0;
  TensorId tensor;
  ByteRange bytes = {};  ///< In the family.
  bool write = false;
};

/// Tensors that share memory by views and mandatory aliases. They live in one memory, and whoever writes one of them
/// must be able to use that memory.
struct Family {
  std::vector<TensorId> roots = {};   ///< Ascending; more than one where there are aliases.
  TensorFlags flags = {};             ///< Of any member.
  Bytes size;                         ///< From its lowest byte to its highest.
  std::vector<Access> accesses = {};  ///< By op; of one op reads come first.

  // Of the accesses, so that nobody has to look through them for it.
  std::optional<std::size_t> first_write = {};  ///< The op.
  std::optional<TensorId> read = {};            ///< The tensor that the first read names.
  bool several_read = false;                    ///< Whether reads name more than one tensor.
  bool overwritten = false;                     ///< Whether there is a write behind a read.
};

struct Families {
  std::vector<Family> list;
  std::vector<std::size_t> of_tensor;
  std::vector<Bytes> offsets;                   ///< By tensor: from its family's lowest byte.
  std::vector<std::vector<std::size_t>> of_op;  ///< Distinct ones that a task op reads or writes.
};

/// Near-linear in the size of the graph.
[[nodiscard]] Families find_families(const Graph& graph);

}  // namespace stowage::partitioning
