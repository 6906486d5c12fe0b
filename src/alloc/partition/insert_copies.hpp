#pragma once

#include <span>

#include "alloc/partition/model.hpp"

namespace stowage::partitioning {

/// The graph with every tensor in its memory and every copy in its place. Fails with `invalid` when a size is below the
/// tensor's or the sizes are beyond what a graph may have.
Result<Partition> insert_copies(const Model& model, const Assignment& assignment, std::span<const Backend> backends,
                                const PartitionOptions& options);

}  // namespace stowage::partitioning
