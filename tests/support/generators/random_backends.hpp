#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/interface/sim_device.hpp"
#include "stowage/alloc/partition.hpp"

namespace stowage::testing {

/// Two simulated devices, and backends on them and, last, on the CPU.
struct Backends {
  std::unique_ptr<SimDevice> first;
  std::unique_ptr<SimDevice> second;
  std::vector<Backend> list;
};

/// One backend on each.
[[nodiscard]] Backends two_sims_and_cpu();
/// Five backends with three memories: 0 on a stream of the first device, 1 on the second, 2 on another stream of the
/// first, 3 and 4 on the CPU.
[[nodiscard]] Backends backends_that_share_memory();

/// Random backends and options for a graph: which ops the devices support (the CPU supports all), where constants,
/// variables and other tensors live, some pins, and which backend uses which memory directly. A backend that must write
/// a tensor supports it, so that `partition` cannot fail. Equal seeds give equal answers. The devices belong to
/// `backends`, whose list is changed.
[[nodiscard]] PartitionOptions randomize(Backends& backends, const Graph& graph, std::uint64_t seed);

}  // namespace stowage::testing
