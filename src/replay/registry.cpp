#include <array>
#include <vector>

#include <fmt/format.h>

#include "replay/buffer_allocator.hpp"
#include "replay/planned_replay.hpp"
#include "replay/torch/expandable.hpp"
#include "replay/torch/native.hpp"
#include "stowage/replay.hpp"
#include "stowage/runtime/caching_allocator.hpp"
#include "stowage/runtime/stream_allocator.hpp"

namespace stowage {
namespace {

using MadeAllocator = Result<std::unique_ptr<Allocator>>;
using MakeAllocator = MadeAllocator (*)(Device& device, const Trace* expected);

template <class Kind>
MadeAllocator make(Device& device, const Trace*) {
  return std::unique_ptr<Allocator>(std::make_unique<Kind>(device));
}

MadeAllocator make_expandable(Device& device, const Trace*) { return replaying::TorchExpandableModel::make(device); }

struct NamedAllocator {
  AllocatorInfo info;
  MakeAllocator make;
};

constexpr std::array kAllocators{
    NamedAllocator{{"stream", "ours, for any number of streams and threads"}, make<StreamAllocator>},
    NamedAllocator{{"caching", "ours, for stream 0 and one thread", false}, make<CachingAllocator>},
    NamedAllocator{{"plan-ahead", "ours, from a plan of the first pass"}, replaying::make_planned_replay},
    NamedAllocator{{"torch-native", "PyTorch's default policy"}, make<replaying::TorchNativeModel>},
    NamedAllocator{{"torch-expandable", "PyTorch's policy with expandable_segments:True"}, make_expandable},
    NamedAllocator{{"buffers", "a separate buffer for every allocation"}, make<replaying::BufferAllocator>},
};

constexpr auto kInfos = [] {
  std::array<AllocatorInfo, kAllocators.size()> infos{};
  for (std::size_t i = 0; i < infos.size(); ++i) infos[i] = kAllocators[i].info;
  return infos;
}();

}  // namespace

std::span<const AllocatorInfo> allocators() { return kInfos; }

Result<std::unique_ptr<Allocator>> make_allocator(std::string_view name, Device& device, const Trace* expected) {
  std::vector<std::string_view> names;
  for (const NamedAllocator& allocator : kAllocators) {
    if (allocator.info.name == name) return allocator.make(device, expected);
    names.push_back(allocator.info.name);
  }
  return Error{ErrorCode::unknown_name,
               fmt::format("there is no allocator '{}'; there are {}", name, fmt::join(names, ", ")),
               {}};
}

}  // namespace stowage
