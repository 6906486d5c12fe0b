#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "memory/interface/sim_device.hpp"
#include "stowage/alloc/partition.hpp"

namespace stowage::bench {

/// Two simulated devices and, last, the CPU; each of them can run every op.
struct TwoDevices {
  std::unique_ptr<SimDevice> first = SimDevice::make({.id = DeviceId(1), .name = "sim0"});
  std::unique_ptr<SimDevice> second = SimDevice::make({.id = DeviceId(2), .name = "sim1"});

  [[nodiscard]] std::vector<Backend> backends() const;
};

/// Where the weights (constants, variables and external tensors) are.
enum class Layout : std::uint8_t {
  halves,        ///< Weights first used in the first half of the ops are on the first device, the others on the second.
  with_cpu,      ///< The first quarter is on the CPU, as when a model does not fit; the rest in halves.
  small_on_cpu,  ///< In halves, but those below 1 MiB on the CPU, as if only large ones had been moved to devices.
};
inline constexpr std::array kLayouts = {Layout::halves, Layout::with_cpu, Layout::small_on_cpu};

[[nodiscard]] std::string_view to_string(Layout layout);

/// Weights that the first op reads (the embeddings, for language models) are always on the CPU.
[[nodiscard]] std::vector<TensorHome> homes_of(const Graph& graph, Layout layout);

}  // namespace stowage::bench
