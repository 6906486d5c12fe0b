#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stowage/alloc/partition.hpp"
#include "stowage/memory/sim.hpp"

namespace stowage::testing {

/// Two simulated devices and, last, the CPU.
struct Backends {
  std::unique_ptr<SimDevice> first;
  std::unique_ptr<SimDevice> second;
  std::vector<Backend> list;
};

[[nodiscard]] Backends two_sims_and_cpu();

/// A graph's backends and options at random: which ops the devices support (the CPU runs all), where constants, variables and
/// other tensors live, some pins, and who uses whose memory directly. Whoever must write a tensor supports it, so that
/// `partition` cannot fail. Equal seeds give equal answers. The devices belong to `backends`, whose list is changed.
[[nodiscard]] PartitionOptions randomize(Backends& backends, const Graph& graph, std::uint64_t seed);

}  // namespace stowage::testing
