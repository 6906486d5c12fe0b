#include "io/tflite/metadata.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <tflite_generated.h>

namespace stowage::io::tflite {
namespace {

constexpr std::int32_t kMetadataVersion = 1;
constexpr std::int32_t kVelaVersion = 0;  // otherwise the same
constexpr std::size_t kHeader = 3;        // numbers before the offsets: version, subgraphs, tensors

std::size_t tensor_count(const ModelInfo& model) {
  std::size_t count = 0;
  for (const SubgraphInfo& subgraph : model.subgraphs) count += subgraph.tensors.size();
  return count;
}

/// The numbers of the entry with a name; empty if there is no such entry.
Result<std::vector<std::int32_t>> numbers_of(const File& file, std::string_view name) {
  std::vector<std::int32_t> numbers;
  const auto fail = [&](const std::string& what) {
    return file.fault(ErrorCode::parse, "metadata", fmt::format("the entry '{}' {}", name, what));
  };
  bool found = false;
  for (std::uint32_t i = 0; file.model().metadata() && i < file.model().metadata()->size(); ++i) {
    const schema::Metadata& entry = *file.model().metadata()->Get(i);
    if (!entry.name() || entry.name()->string_view() != name) continue;
    if (std::exchange(found, true)) return fail("occurs twice");
    if (!file.model().buffers() || entry.buffer() >= file.model().buffers()->size())
      return fail(fmt::format("has its data in buffer {}, which does not exist", entry.buffer()));
    const auto* data = file.model().buffers()->Get(entry.buffer())->data();
    if (!data || data->size() == 0 || data->size() % sizeof(std::int32_t) != 0)
      return fail(fmt::format("has {} bytes, which are not a list of 32-bit integers", data ? data->size() : 0));
    numbers.resize(data->size() / sizeof(std::int32_t));
    std::memcpy(numbers.data(), data->data(), data->size());
  }
  return numbers;
}

}  // namespace

std::vector<MetadataEntry> entries_of(const OfflinePlan& plan, Bytes alignment) {
  std::vector<std::int32_t> numbers{kMetadataVersion, static_cast<std::int32_t>(plan.offsets.size()), 0};
  for (const std::vector<std::int32_t>& subgraph : plan.offsets)
    numbers.insert(numbers.end(), subgraph.begin(), subgraph.end());
  numbers[2] = static_cast<std::int32_t>(numbers.size() - kHeader);
  const auto narrow = [](Bytes bytes) { return static_cast<std::int32_t>(bytes.value()); };
  return {{kPlanEntry, std::move(numbers)}, {kArenaEntry, {narrow(*plan.arena), narrow(alignment)}}};
}

Result<OfflinePlan> read_plan(const File& file, const ModelInfo& model) {
  STOWAGE_TRY(const std::vector<std::int32_t> numbers, numbers_of(file, kPlanEntry));
  const auto fail = [&](std::string message) {
    return file.fault(ErrorCode::parse, std::string(kPlanEntry), std::move(message));
  };
  if (numbers.empty()) return fail("the model has no metadata of this name, hence no plan");
  if (numbers.size() < kHeader) return fail(fmt::format("has {} numbers, fewer than its own header", numbers.size()));
  if (numbers[0] != kMetadataVersion && numbers[0] != kVelaVersion)
    return fail(
        fmt::format("has version {}, but only {} and {} are supported", numbers[0], kVelaVersion, kMetadataVersion));
  if (numbers[1] != static_cast<std::int64_t>(model.subgraphs.size()))
    return fail(fmt::format("is for {} subgraphs, but the model has {}", numbers[1], model.subgraphs.size()));
  const std::size_t count = tensor_count(model);
  if (numbers[2] != static_cast<std::int64_t>(count))
    return fail(fmt::format("is for {} tensors, but the model has {}", numbers[2], count));
  if (numbers.size() != kHeader + count)
    return fail(fmt::format("says that it has {} offsets, but has {}", count, numbers.size() - kHeader));
  OfflinePlan plan;
  std::size_t next = kHeader;
  for (const SubgraphInfo& subgraph : model.subgraphs) {
    std::vector<std::int32_t>& offsets = plan.offsets.emplace_back();
    for (const TensorInfo& tensor : subgraph.tensors) {
      const std::int32_t offset = numbers[next++];
      if (offset < kNoOffset)
        return fail(fmt::format("has {} for '{}', which is neither an offset nor -1", offset, tensor.name));
      offsets.push_back(offset);
    }
  }
  STOWAGE_TRY(const std::vector<std::int32_t> arena, numbers_of(file, kArenaEntry));
  if (!arena.empty() && arena[0] >= 0) plan.arena = Bytes(arena[0]);
  return plan;
}

}  // namespace stowage::io::tflite
