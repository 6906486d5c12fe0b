#include "tflm_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "output.hpp"
#include "stowage/base/printable.hpp"
#include "stowage/report/export.hpp"

namespace stowage::cli {
namespace {

std::string tflm_line(std::string_view label, const std::string& figure, const std::string& text) {
  return fmt::format("  {:<6} {:>14}   {}\n", label, figure, text);
}

/// The scratch memory of an NPU's ops.
std::string npu_text(const Graph& graph) {
  const auto& ops = graph.ops();
  const auto count = static_cast<std::size_t>(
      std::count_if(ops.begin(), ops.end(), [](const Op& op) { return op.kind == "ethos-u"; }));
  if (count == 0) return {};
  return tflm_line("NPU", counted(count, "op"),
                   "compiled for an Ethos-U: what lies in its scratch memory stays where the compiler put it");
}

}  // namespace

std::string tflm_text(const ModelFile& model, const Graph& graph, const Plan& plan, const ImportOptions& options) {
  const Result<TflmMemory> memory = tflm_memory(model, plan, options);
  if (!memory) return npu_text(graph) + tflm_line("TFLM", "unknown", printable(memory.error().message));
  std::string text =
      tflm_line("TFLM", size_text(memory->arena),
                fmt::format("the arena that it needs with this plan ({}, reference kernels)", tflm_version()));
  text += tflm_line("", "",
                    fmt::format("head {}, tail {}; on its own: head {}, arena {}", size_text(memory->head),
                                size_text(memory->tail), size_text(memory->own_head), size_text(memory->own_arena)));
  return npu_text(graph) + text;
}

std::string tflm_copy_text(const ModelFile& model, const Plan& plan, const ImportOptions& options) {
  const Result<TflmMemory> memory = tflm_memory(model, plan, options);
  if (!memory || memory->head <= memory->own_head) return {};
  return fmt::format(
      "TFLM's own planner needs a head of {} bytes, less than the {} with this plan: the copy leaves all tensors to it",
      memory->own_head.value(), memory->head.value());
}

}  // namespace stowage::cli
