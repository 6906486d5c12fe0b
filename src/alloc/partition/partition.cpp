#include "stowage/alloc/partition.hpp"

#include "alloc/partition/assign.hpp"
#include "alloc/partition/insert_copies.hpp"
#include "alloc/partition/whole.hpp"

namespace stowage {

Bytes Partition::copied_bytes() const {
  Bytes sum;
  for (const PartitionCopy& copy : copies) sum += copy.bytes;
  return sum;
}

Result<Partition> partition(const Graph& graph, std::span<const Backend> backends, const PartitionOptions& options) {
  if (graph.has_bodies() || !graph.rings().empty()) {
    STOWAGE_TRY_STATUS(partitioning::check_names(graph, backends, options));
    return partitioning::partition_whole(graph, backends, options);
  }
  STOWAGE_TRY(const partitioning::Model model, partitioning::make_model(graph, backends, options));
  partitioning::Assignment assignment = partitioning::assign(model);
  if (options.improve) partitioning::improve(model, assignment);
  return partitioning::insert_copies(model, assignment, backends, options);
}

}  // namespace stowage
