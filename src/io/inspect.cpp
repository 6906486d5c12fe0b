#include "io/inspect.hpp"

#include <vector>

namespace stowage::io {
namespace {

void add(const std::vector<Tensor>& tensors, const std::vector<Op>& ops, FileInfo& info) {
  for (const Tensor& tensor : tensors) {
    if (tensor.flags.has(TensorFlag::constant)) info.weights += tensor.size;
  }
  for (const Op& op : ops) {
    ++info.ops[op.kind];
    for (const Body& body : op.bodies) add(body.tensors, body.ops, info);
  }
}

FileInfo::Input input_of(const Tensor& tensor) {
  FileInfo::Input input{.name = tensor.name, .dtype = tensor.dtype, .shape = {}};
  if (!tensor.shape.empty()) input.shape.emplace(tensor.shape.begin(), tensor.shape.end());
  return input;
}

}  // namespace

Result<FileInfo> inspect_parsed(const Result<Imported>& parsed) {
  if (!parsed && parsed.error().code != ErrorCode::unsupported) return parsed.error();
  FileInfo info{.format = {}, .name = {}};
  if (!parsed) {
    info.unsupported.push_back({.where = parsed.error().where.path, .reason = parsed.error().message});
    return info;
  }
  const Graph* const graph = std::get_if<Graph>(&*parsed);
  if (!graph) return info;
  const GraphDescription& description = graph->description();
  info.name = description.name;
  add(description.tensors, description.ops, info);
  for (const Tensor& tensor : description.tensors) {
    if (tensor.flags.has(TensorFlag::input)) info.inputs.push_back(input_of(tensor));
  }
  return info;
}

}  // namespace stowage::io
