#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage::partitioning {

/// A task op's read or write of a tensor.
struct Access {
  std::size_t op = 0;
  TensorId tensor;
  ByteRange bytes = {};  ///< Relative to the family.
  bool write = false;
};

/// An alias class of the glossary: tensors that share memory through views and mandatory aliases. They live in one
/// memory, and every backend that writes one of them must be able to use that memory.
struct Family {
  std::vector<TensorId> roots = {};   ///< Ascending; more than one if there are aliases.
  TensorFlags flags = {};             ///< The flags of all members together.
  Bytes size;                         ///< From its lowest byte to its highest.
  std::vector<Access> accesses = {};  ///< By op; of one op, reads come first.

  // Derived from the accesses, so that callers need not scan them.
  std::optional<std::size_t> first_write = {};  ///< The op.
  std::optional<TensorId> read = {};            ///< The tensor that the first read names.
  bool several_read = false;                    ///< Whether reads name more than one tensor.
  bool overwritten = false;                     ///< Whether there is a write after a read.
};

struct Families {
  std::vector<Family> list;
  std::vector<std::size_t> of_tensor;
  std::vector<Bytes> offsets;                   ///< By tensor: relative to the lowest byte of its family.
  std::vector<std::vector<std::size_t>> of_op;  ///< By op: the families that a task op reads or writes, each once.
};

/// Near-linear in the size of the graph.
[[nodiscard]] Families find_families(const Graph& graph);

}  // namespace stowage::partitioning
