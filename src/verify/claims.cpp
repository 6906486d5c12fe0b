#include "verify/claims.hpp"

#include <algorithm>

namespace stowage::verification {

Claims::Claims(const Case& input, const Copies& copies, const Clears& clears, const Cells& cells)
    : values_(input.values.size()), copies_(copies.size()), first_(values_ + copies_ + clears.size(), kNone) {
  claims_.reserve(first_.size());
  next_.reserve(first_.size());
  add_tensors(input, copies, cells);
  add_workspaces(input);
  for (std::uint32_t i = 0; i < copies.size(); ++i) {
    if (copies[i].role == CopyRole::group_input)
      add(of_copy(i), CopyId{i}, copies[i].to, input.graph.tensor(copies[i].tensor).size);
  }
  for (std::uint32_t i = 0; i < clears.size(); ++i) {
    if (!clears[i].exists) continue;
    add(of_clear(i), ClearId{i}, {clears[i].arena, 0, clears[i].bytes.lower, {}, clears[i].cell},
        clears[i].bytes.length());
  }
}

std::optional<ClaimId> Claims::find(HolderId holder, std::size_t cell, ByteRange bytes) const {
  std::optional<ClaimId> found;
  for_each(holder, [&](ClaimId id) {
    if (claims_[id].cell == cell && claims_[id].bytes.contains(bytes)) found = id;
  });
  return found;
}

void Claims::add_tensors(const Case& input, const Copies& copies, const Cells& cells) {
  const Graph& graph = input.graph;
  std::vector<bool> copied(values_);
  for (std::uint32_t i = 0; i < copies.size(); ++i) {
    if (copies[i].role != CopyRole::none) copied[input.values.of(copies[i].target).index()] = true;
  }
  // From the last tensor to the first, so that a value's first claim is that of its outermost tensor.
  for (std::size_t t = graph.tensors().size(); t-- > 0;) {
    // Views lie inside their roots; the layout rule reports those that do not.
    const Tensor& tensor = graph.tensors()[t];
    const ValueId value = input.values.of(TensorId(t));
    if (tensor.view_of || !(input.values[value].in_use() || input.values[value].handed || copied[value.index()]))
      continue;
    const auto holder = static_cast<HolderId>(value.index());
    if (const Bindings::Bound* const bound = input.bindings.of(value)) {
      if (!bound->arena || input.plan.arenas[bound->arena->index()].regions.empty()) continue;
      const Bytes offset = input.values.offset(TensorId(t)) - input.values.offset(bound->tensor);
      add(holder, TensorId(t), {*bound->arena, 0, offset, {}, cells.first(*bound->arena)}, tensor.size);
    } else if (const Place* const place = input.places.valid(TensorId(t))) {
      add(holder, TensorId(t), *place, tensor.size);
    }
  }
}

void Claims::add_workspaces(const Case& input) {
  const Graph& graph = input.graph;
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const std::vector<Workspace>& workspaces = graph.ops()[k].workspaces;
    for (std::uint32_t w = 0; w < workspaces.size(); ++w) {
      const ValueId value = input.values.of(OpId(k), w);
      const Place* const place = input.places.of(WorkspaceId{OpId(k), w});
      if (!place || !place->cell || !input.values[value].in_use()) continue;
      add(static_cast<HolderId>(value.index()), WorkspaceId{OpId(k), w}, *place, workspaces[w].size);
    }
  }
}

void Claims::add(HolderId holder, const Subject& subject, const Place& place, Bytes size) {
  const std::optional<ByteRange> bytes = range_at(place.offset, size);
  if (size == Bytes(0) || !bytes) return;
  if (const ClaimId known = first_[holder]; known != kNone) {
    // A value that is passed into bodies consists of many tensors at one place. The outermost, which comes last,
    // represents all of them.
    Claim& claim = claims_[known];
    if (claim.cell == *place.cell && claim.bytes == *bytes) {
      claim = {holder, *place.cell, *bytes, subject, place.arena, {}};
      return;
    }
  }
  claims_.push_back({holder, *place.cell, *bytes, subject, place.arena, {}});
  next_.push_back(first_[holder]);
  first_[holder] = static_cast<ClaimId>(claims_.size() - 1);
}

std::optional<ClaimId> Claims::find_highest(HolderId holder) const {
  if (!has_any(holder)) return std::nullopt;
  ClaimId highest = first_[holder];
  bool usual = true;
  for_each(holder, [&](ClaimId id) {
    const ByteRange bytes = claims_[id].bytes;
    usual = usual && claims_[id].cell == claims_[highest].cell && bytes.lower >= Bytes(0) && bytes.upper <= kMaxBytes;
    if (bytes.upper > claims_[highest].bytes.upper) highest = id;
  });
  return usual ? std::optional(highest) : std::nullopt;
}

Bytes Claims::lowest_of(HolderId holder) const {
  Bytes lowest = kMaxBytes;
  for_each(holder, [&](ClaimId id) { lowest = std::min(lowest, claims_[id].bytes.lower); });
  return lowest;
}

}  // namespace stowage::verification
