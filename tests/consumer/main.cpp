#include <iostream>

#include <stowage/stowage.hpp>

int main() {
  stowage::GraphBuilder builder("consumer");
  const auto x =
      builder.add(stowage::Tensor{.name = "x", .size = stowage::Bytes(4096), .flags = stowage::TensorFlag::input});
  const auto y =
      builder.add(stowage::Tensor{.name = "y", .size = stowage::Bytes(4096), .flags = stowage::TensorFlag::output});
  builder.add(stowage::Op{.name = "relu", .kind = "RELU", .inputs = {x}, .outputs = {y}, .in_place = {{0, 0}}});
  const auto graph = builder.build();
  if (!graph) return std::cerr << to_string(graph.error()) << '\n', 1;
  const auto planned = stowage::plan(*graph);
  if (!planned || !planned->has_answer()) return 1;
  // Also uses io, which needs the private dependencies of a static library.
  const auto again = stowage::parse_plan(stowage::plan_to_json(*graph, *planned->plan), "plan.json", *graph);
  if (!again || *again != *planned->plan) return 1;
  std::cout << "peak " << to_human(planned->plan->peak()) << ", without reuse " << to_human(planned->naive) << '\n';
}
