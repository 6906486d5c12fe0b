#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "stowage/alloc/partition.hpp"
#include "stowage/memory/sim.hpp"

namespace stowage::bench {

/// Two simulated devices and, last, the CPU; every one of them runs every op.
struct TwoDevices {
  std::unique_ptr<SimDevice> first = SimDevice::make({.id = DeviceId(1), .name = "sim0"});
  std::unique_ptr<SimDevice> second = SimDevice::make({.id = DeviceId(2), .name = "sim1"});

  [[nodiscard]] std::vector<Backend> backends() const;
};

/// Who has which weights: constants, variables and external tensors.
enum class Layout : std::uint8_t {
  halves,        ///< Those that ops of the first half use first lie on the first device, the others on the second.
  with_cpu,      ///< The first quarter on the CPU, as when a model does not fit; the others in halves.
  small_on_cpu,  ///< In halves, but those below 1 MiB on the CPU, as when only the large ones were moved to devices.
};
inline constexpr std::array kLayouts = {Layout::halves, Layout::with_cpu, Layout::small_on_cpu};

[[nodiscard]] std::string_view to_string(Layout layout);

/// What `graph`'s first op reads (the embeddings, for language models) stays on the CPU in any case.
[[nodiscard]] std::vector<TensorHome> homes_of(const Graph& graph, Layout layout);

}  // namespace stowage::bench
