#pragma once

#include <span>

#include "alloc/partition/model.hpp"

namespace stowage::partitioning {

/// The graph with every tensor in its memory and every copy inserted. Fails with `invalid` when `size_of` returns less
/// than a tensor's size, or when sizes exceed the limits of a graph.
Result<Partition> insert_copies(const Model& model, const Assignment& assignment, std::span<const Backend> backends,
                                const PartitionOptions& options);

}  // namespace stowage::partitioning
