#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "alloc/partition/families.hpp"
#include "stowage/alloc/scheduler.hpp"

namespace stowage::scheduling {

/// Some copies that one backend's device makes, on its stream.
struct CopyBatch {
  struct Part {
    std::size_t copy = 0;                 ///< Of the partition.
    std::optional<Bytes> staged_at = {};  ///< In the staging buffer, where it comes from or goes to there.
  };
  enum class Way : std::uint8_t { direct, to_staging, from_staging };

  std::size_t backend = 0;
  Way way = Way::direct;
  std::vector<Part> parts = {};
  std::vector<std::size_t> memories = {};  ///< That it uses; distinct.
};

/// What a split takes: its copies, batch by batch, then its work.
struct SplitJob {
  std::vector<CopyBatch> batches = {};
  std::vector<std::size_t> memories = {};  ///< That its ops use; distinct.
};

/// A partition with all that running it needs to know and addresses do not change.
struct Job {
  GraphDescription original;  ///< What it was made of.
  Partition partition;
  partitioning::Families families;                     ///< Of the partition's graph.
  std::vector<std::optional<std::size_t>> input_sets;  ///< By family: the entry of `partition.input_sets`.
  std::vector<SplitJob> splits;
  Bytes staging;  ///< How much the split with the most of it needs.
};

/// Memories are numbered like backends, one that several have by the first of them; the staging memory is
/// `backends.size()`.
[[nodiscard]] std::size_t memory_number(std::span<const Backend> backends, std::size_t backend);

Result<Job> make_job(const Graph& graph, std::span<const Backend> backends, const PartitionOptions& options);

}  // namespace stowage::scheduling
