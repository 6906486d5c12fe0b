#include <fmt/format.h>

#include "stowage/alloc/graph_allocator.hpp"

namespace stowage {

std::string_view to_string(ReplanReason reason) {
  switch (reason) {
    case ReplanReason::none:
      return "none";
    case ReplanReason::first:
      return "first";
    case ReplanReason::structure:
      return "structure";
    case ReplanReason::memory:
      return "memory";
    case ReplanReason::flags:
      return "flags";
    case ReplanReason::size:
      return "size";
    case ReplanReason::view:
      return "view";
    case ReplanReason::in_place:
      return "in_place";
  }
  return "unknown";
}

std::string to_string(const Replan& replan) {
  std::string text(to_string(replan.reason));
  if (replan.tensor) text += fmt::format(": tensor {}", replan.tensor->index());
  if (replan.op) text += fmt::format("{} op {}", replan.tensor ? "," : ":", replan.op->index());
  return text;
}

}  // namespace stowage
