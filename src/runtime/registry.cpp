#include "stowage/runtime/registry.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "runtime/buffers.hpp"
#include "runtime/plan_ahead/planned_replay.hpp"
#include "runtime/torch/expandable.hpp"
#include "runtime/torch/native.hpp"
#include "stowage/runtime/caching_allocator.hpp"
#include "stowage/runtime/stream_allocator.hpp"

namespace stowage {
namespace {

template <class Kind>
Result<std::unique_ptr<Allocator>> make(Device& device, const AllocatorOptions&) {
  return std::unique_ptr<Allocator>(std::make_unique<Kind>(device));
}

Result<std::unique_ptr<Allocator>> make_expandable(Device& device, const AllocatorOptions&) {
  return runtime::TorchExpandableModel::make(device);
}

Result<std::unique_ptr<Allocator>> make_plan_ahead(Device& device, const AllocatorOptions& options) {
  return runtime::make_planned_replay(device, options.expected);
}

constexpr std::array kAllocators{
    AllocatorInfo{"stream", "ours, for any number of streams and threads", make<StreamAllocator>},
    AllocatorInfo{"caching", "ours, for stream 0 and one thread", make<CachingAllocator>, false},
    AllocatorInfo{"plan-ahead", "ours, from a plan of the first pass", make_plan_ahead},
    AllocatorInfo{"torch-native", "PyTorch's default policy", make<runtime::TorchNativeModel>},
    AllocatorInfo{"torch-expandable", "PyTorch's policy with expandable_segments:True", make_expandable},
    AllocatorInfo{"buffers", "a buffer of its own for every allocation", make<runtime::BufferAllocator>},
};

}  // namespace

std::span<const AllocatorInfo> allocators() { return kAllocators; }

Result<std::unique_ptr<Allocator>> make_allocator(std::string_view name, Device& device, const AllocatorOptions& options) {
  std::vector<std::string_view> names;
  for (const AllocatorInfo& info : kAllocators) {
    if (info.name == name) return info.make(device, options);
    names.push_back(info.name);
  }
  return Error{
      ErrorCode::unknown_name, fmt::format("there is no allocator '{}'; there are {}", name, fmt::join(names, ", ")), {}};
}

}  // namespace stowage
