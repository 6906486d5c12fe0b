#include "layouts.hpp"

#include <map>
#include <string>

namespace stowage::bench {
namespace {

constexpr std::size_t kCpu = 2;
constexpr Bytes kSmall{std::int64_t{1} << 20};

std::size_t home_of(const Tensor& tensor, std::size_t first_use, std::size_t ops, Layout layout) {
  if (first_use == 0 || (layout == Layout::small_on_cpu && tensor.size < kSmall)) return kCpu;
  if (layout != Layout::with_cpu) return first_use < ops / 2 ? 0 : 1;
  return first_use < ops / 4 ? kCpu : first_use < ops * 5 / 8 ? 0 : 1;
}

}  // namespace

std::vector<Backend> TwoDevices::backends() const {
  std::vector<Backend> result;
  for (Device* device : {static_cast<Device*>(first.get()), static_cast<Device*>(second.get()), &cpu_device()}) {
    result.push_back({.name = std::string(device->name()), .memory = &device->buffer_type(), .device = device});
  }
  return result;
}

std::string_view to_string(Layout layout) {
  constexpr std::array<std::string_view, kLayouts.size()> kNames = {"halves", "with_cpu", "small_on_cpu"};
  return kNames[static_cast<std::size_t>(layout)];
}

std::vector<TensorHome> homes_of(const Graph& graph, Layout layout) {
  std::map<std::size_t, std::size_t> first_use;  // by root
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    if (graph.ops()[k].no_task) continue;
    const auto use = [&](TensorId tensor) { first_use.try_emplace(graph.root(tensor).tensor.index(), k); };
    for (const std::optional<TensorId>& input : graph.ops()[k].inputs) {
      if (input) use(*input);
    }
    for (const TensorId output : graph.ops()[k].outputs) use(output);
  }
  std::vector<TensorHome> homes;
  for (const auto& [root, op] : first_use) {
    const Tensor& tensor = graph.tensors()[root];
    if (!tensor.flags.any_of(kOwnAddress)) continue;
    homes.push_back({TensorId(root), home_of(tensor, op, graph.ops().size(), layout)});
  }
  return homes;
}

}  // namespace stowage::bench
