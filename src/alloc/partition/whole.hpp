#pragma once

#include <span>

#include "stowage/alloc/partition.hpp"

namespace stowage::partitioning {

/// Puts a graph with bodies or prefetch rings on one backend as a whole: the first that can run all of it. Fails with
/// `unsupported`, naming what cannot be divided and, of the backend that comes closest, what it cannot do.
Result<Partition> partition_whole(const Graph& graph, std::span<const Backend> backends,
                                  const PartitionOptions& options);

}  // namespace stowage::partitioning
