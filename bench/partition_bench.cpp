#include <fmt/format.h>

#include "layouts.hpp"
#include "sections.hpp"
#include "stowage/stowage.hpp"
#include "table.hpp"

/// Partitions recorded graphs over two devices and the CPU:
/// splits, copies and copied bytes, by the simple passes and improved.
namespace stowage::bench {
namespace {

std::string mebibytes(Bytes bytes) { return fmt::format("{:.2f}", static_cast<double>(bytes.value()) / (1 << 20)); }

void add_row(Table& table, const GraphInstance& instance, Layout layout, const Effort& effort) {
  const TwoDevices devices;
  const std::vector<Backend> backends = devices.backends();
  PartitionOptions options{.homes = homes_of(instance.graph, layout), .improve = false};
  const Result<Partition> plain = partition(instance.graph, backends, options);
  const Timing plain_time = measure(effort, [&] { return partition(instance.graph, backends, options); });
  options.improve = true;
  const Result<Partition> improved = partition(instance.graph, backends, options);
  const Timing time = measure(effort, [&] { return partition(instance.graph, backends, options); });
  if (!plain || !improved) {
    fmt::print(stderr, "{}: {}\n", instance.name, stowage::to_string((plain ? improved : plain).error()));
    return;
  }
  table.add({instance.name, std::string(to_string(layout)), std::to_string(instance.graph.ops().size()),
             std::to_string(plain->splits.size()), std::to_string(improved->splits.size()),
             std::to_string(plain->copies.size()), std::to_string(improved->copies.size()),
             mebibytes(plain->copied_bytes()), mebibytes(improved->copied_bytes()), to_text(plain_time),
             to_text(time)});
}

}  // namespace

std::vector<Limited> bench_partition(const Options& options) {
  fmt::print(
      "## Partition\n\nTwo devices and the CPU; the first of each pair is by the simple passes (those of "
      "ggml_backend_sched), the second is improved.\n\n");
  Table table({"graph", "weights", "ops", "splits", "improved", "copies", "improved", "MiB copied", "improved", "time",
               "improved"});
  for (const GraphInstance& instance : graph_instances(options.selection)) {
    if (instance.path.empty()) continue;
    for (const Layout layout : kLayouts) add_row(table, instance, layout, options.effort);
  }
  table.print();
  return {};
}

}  // namespace stowage::bench
