#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "alloc/partition/families.hpp"
#include "stowage/alloc/scheduler.hpp"

namespace stowage::scheduling {

/// Copies that one backend's device makes together, on its stream.
struct CopyBatch {
  struct Part {
    std::size_t copy = 0;                 ///< Index in the partition's copies.
    std::optional<Bytes> staged_at = {};  ///< Offset in the staging buffer, if the copy goes through it.
  };
  enum class Way : std::uint8_t { direct, to_staging, from_staging };

  std::size_t backend = 0;
  Way way = Way::direct;
  std::vector<Part> parts = {};
  std::vector<std::size_t> memories = {};  ///< Used by the copies; each once.
};

/// What one split runs: its copies, batch by batch, then its ops.
struct SplitJob {
  std::vector<CopyBatch> batches = {};
  std::vector<std::size_t> memories = {};  ///< Used by its ops; each once.
};

/// A partition with everything that a run needs and that does not depend on addresses.
struct Job {
  GraphDescription original;  ///< The graph that was partitioned.
  Partition partition;
  partitioning::Families families;                     ///< Of the partition's graph.
  std::vector<std::optional<std::size_t>> input_sets;  ///< By family: its entry in `partition.input_sets`.
  std::vector<SplitJob> splits;
  Bytes staging;  ///< The largest amount of staging memory that any split needs.
};

/// The number of a backend's memory. Memories are numbered like backends; a memory that several backends share has the
/// number of the first of them. The staging memory is `backends.size()`.
[[nodiscard]] std::size_t memory_number(std::span<const Backend> backends, std::size_t backend);

Result<Job> make_job(const Graph& graph, std::span<const Backend> backends, const PartitionOptions& options);

}  // namespace stowage::scheduling
