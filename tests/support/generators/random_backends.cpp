#include "support/generators/random_backends.hpp"

#include <algorithm>
#include <random>
#include <string>

#include "support/judges/shadow/families.hpp"

namespace stowage::testing {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  bool chance(std::size_t percent) { return below(100) < percent; }

 private:
  std::mt19937_64 random_;
};

/// By family: the ops that write it.
std::vector<std::vector<std::size_t>> writers_of_families(const Graph& graph, const Families& families) {
  std::vector<std::vector<std::size_t>> writers(families.families.size());
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    if (graph.ops()[k].no_task) continue;
    for (const TensorId output : graph.ops()[k].outputs) writers[families.seats[output.index()].family].push_back(k);
  }
  return writers;
}

}  // namespace

Backends two_sims_and_cpu() {
  Backends backends{
      .first = SimDevice::make({.id = DeviceId(1), .name = "sim0", .alignment = Bytes(64)}),
      .second = SimDevice::make({.id = DeviceId(2), .name = "sim1", .alignment = Bytes(16), .skew = Bytes(3)}),
      .list = {}};
  for (Device* device :
       {static_cast<Device*>(backends.first.get()), static_cast<Device*>(backends.second.get()), &cpu_device()}) {
    backends.list.push_back({.name = std::string(device->name()), .memory = &device->buffer_type(), .device = device});
  }
  return backends;
}

Backends backends_that_share_memory() {
  Backends backends = two_sims_and_cpu();
  Backend side = backends.list[0];
  side.name = "side";
  side.stream = StreamId(1);
  Backend blas = backends.list[2];
  blas.name = "blas";
  backends.list.insert(backends.list.begin() + 2, {std::move(side), std::move(blas)});
  return backends;
}

PartitionOptions randomize(Backends& backends, const Graph& graph, std::uint64_t seed) {
  Dice dice(seed);
  const std::size_t percent = 20 + dice.below(80);
  for (std::size_t b = 0; b + 1 < backends.list.size(); ++b) {
    std::vector<bool> supported;
    for (std::size_t op = 0; op < graph.ops().size(); ++op) supported.push_back(dice.chance(percent));
    backends.list[b].supports = [supported](const Graph&, OpId op) { return static_cast<bool>(supported[op.index()]); };
    if (dice.chance(15)) backends.list[b].uses = {backends.list.size() - 1};
  }

  const Families families = find_families(graph, Bytes(1));
  const std::vector<std::vector<std::size_t>> writers = writers_of_families(graph, families);
  std::vector<bool> decided(writers.size(), false);
  PartitionOptions options;
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const std::size_t family = families.seats[t].family;
    const bool written = !writers[family].empty();
    if (decided[family] || !dice.chance(written ? 3 : 50)) continue;
    decided[family] = true;
    options.homes.push_back({TensorId(t), written ? backends.list.size() - 1 : dice.below(backends.list.size())});
  }
  const auto is_free = [&](TensorId output) {
    const std::size_t family = families.seats[output.index()].family;
    return !decided[family] && writers[family].size() == 1;
  };
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const std::vector<TensorId>& outputs = graph.ops()[k].outputs;
    const OpPin pin{OpId(k), dice.below(backends.list.size())};
    const Backend& backend = backends.list[pin.backend];
    if (!dice.chance(30) || (backend.supports && !backend.supports(graph, pin.op))) continue;
    if (std::all_of(outputs.begin(), outputs.end(), is_free)) options.pins.push_back(pin);
  }
  return options;
}

}  // namespace stowage::testing
