#include "alloc/callers.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "graph/interface/relations.hpp"

namespace stowage::alloc {
namespace {

Error refuse(const Graph& graph, TensorId tensor, std::string_view why) {
  return {ErrorCode::invalid, fmt::format("{} {}", describe(graph, tensor), why), {}};
}

/// Memory that one tensor takes, before it is taken.
struct Claim {
  TensorId tensor;
  AddressRange range;
  bool planned = false;
};

bool overlap(const AddressRange& a, const AddressRange& b) {
  if (a.size <= Bytes(0) || b.size <= Bytes(0)) return false;
  const auto begin_a = reinterpret_cast<std::uintptr_t>(a.address);
  const auto begin_b = reinterpret_cast<std::uintptr_t>(b.address);
  return begin_a < begin_b + static_cast<std::uintptr_t>(b.size.value()) &&
         begin_b < begin_a + static_cast<std::uintptr_t>(a.size.value());
}

/// The first two that may not share bytes and do.
Status check_overlaps(const Graph& graph, std::vector<Claim> claims, std::span<const AddressRange> taken) {
  for (const Claim& claim : claims) {
    for (const AddressRange& range : taken) {
      if (overlap(claim.range, range)) return refuse(graph, claim.tensor, "is bound to memory of the allocator");
    }
  }
  std::sort(claims.begin(), claims.end(),
            [](const Claim& a, const Claim& b) { return a.range.address < b.range.address; });
  for (std::size_t i = 0; i < claims.size(); ++i) {
    // Only memory that the plan binds must be alone, so all that begin inside a range are compared with it.
    for (std::size_t j = i + 1; j < claims.size() && overlap(claims[i].range, claims[j].range); ++j) {
      if (!claims[i].planned && !claims[j].planned) continue;
      return refuse(graph, claims[j].tensor,
                    fmt::format("is bound to memory that {} is bound to", describe(graph, claims[i].tensor)));
    }
  }
  return Done{};
}

}  // namespace

Callers::Callers(const Graph& graph, const Plan& plan, std::vector<const BufferType*> type_of)
    : type_of_(std::move(type_of)), entry_of_(plan.bindings.empty() ? 0 : graph.tensors().size()) {
  for (const Binding& binding : plan.bindings) {
    const TensorId representative = graph.relations().place(binding.tensor).representative;
    const BufferType& type = *type_of_[graph.tensor(binding.tensor).memory.index()];
    entries_.push_back(
        {binding.tensor, representative, binding.size, binding.alignment, true, std::make_unique<CallerBuffer>(type)});
    entry_of_[representative.index()] = static_cast<std::uint32_t>(entries_.size());
  }
}

Callers::Entry* Callers::find(TensorId representative) {
  if (representative.index() >= entry_of_.size() || entry_of_[representative.index()] == 0) return nullptr;
  return &entries_[entry_of_[representative.index()] - 1];
}

const Callers::Entry* Callers::find(TensorId representative) const {
  return const_cast<Callers*>(this)->find(representative);
}

/// Of a constant, variable or external tensor: what all tensors that share its memory need, from its own start on.
Result<Callers::Entry> Callers::entry_for(const Graph& graph, TensorId tensor) const {
  const AliasPlace& place = graph.relations().place(tensor);
  TensorFlags flags;
  Bytes before;
  Bytes size = graph.tensor(tensor).size;
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const AliasPlace& other = graph.relations().place(TensorId(t));
    if (other.representative != place.representative) continue;
    flags |= graph.tensors()[t].flags;
    before = std::max(before, place.offset - other.offset);
    size = std::max(size, other.offset - place.offset + graph.tensors()[t].size);
  }
  if (!flags.any_of(kOwnAddress))
    return refuse(graph, tensor, "is not bound by the plan, and has no address of its own");
  if (before > Bytes(0))
    return refuse(graph, tensor, "cannot be bound: a tensor that shares its memory begins before it");
  const BufferType& type = *type_of_[graph.tensor(tensor).memory.index()];
  return Entry{
      tensor, place.representative, size, graph.alignment(tensor), false, std::make_unique<CallerBuffer>(type)};
}

Status Callers::check(const Graph& graph, const Entry& entry, const CallerMemory& memory) const {
  const auto refused = [&](std::string_view why) { return Status(refuse(graph, entry.tensor, why)); };
  if (memory.size < entry.size)
    return refused(fmt::format("needs {} bytes, but is bound to {}", entry.size.value(), memory.size.value()));
  if (memory.address == nullptr && entry.size > Bytes(0)) return refused("is bound to a null address");
  const auto address = reinterpret_cast<std::uintptr_t>(memory.address);
  if (address % static_cast<std::uintptr_t>(entry.alignment.value()) != 0)
    return refused(fmt::format("must be aligned to {}, but is bound to {}", entry.alignment.value(),
                               static_cast<const void*>(memory.address)));
  const BufferType& type = entry.buffer->type();
  if (memory.device != type.device())
    return refused(fmt::format("is bound to memory of device {}, but lies in {}, which is of device {}",
                               memory.device.index(), type.name(), type.device().index()));
  if (entry.size > Bytes(0) && type.owns(memory.address) == std::optional(false))
    return refused(fmt::format("is bound to {}, which is not memory of {}", static_cast<const void*>(memory.address),
                               type.name()));
  return Done{};
}

Status Callers::bind(const Graph& graph, std::span<const BoundMemory> memories, std::span<const AddressRange> taken) {
  std::vector<Entry> added;
  std::vector<std::pair<CallerBuffer*, CallerMemory>> settings;
  std::vector<Claim> claims;
  for (const auto& [tensor, memory] : memories) {
    if (tensor.index() >= graph.tensors().size())
      return Error{ErrorCode::invalid, fmt::format("graph '{}' has no tensor {}", graph.name(), tensor.index()), {}};
    Entry* known = find(graph.relations().place(tensor).representative);
    if (known == nullptr || known->tensor != tensor) {
      if (known != nullptr && known->planned) return refuse(graph, tensor, "is not the one that the plan binds");
      STOWAGE_TRY(Entry entry, entry_for(graph, tensor));
      added.push_back(std::move(entry));
    }
    const Entry& entry = known != nullptr && known->tensor == tensor ? *known : added.back();
    STOWAGE_TRY_STATUS(check(graph, entry, memory));
    settings.emplace_back(entry.buffer.get(), memory);
    claims.push_back({tensor, {memory.address, entry.size}, entry.planned});
  }
  for (const Entry& entry : entries_) {
    const bool again = std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
      return graph.relations().place(claim.tensor).representative == entry.representative;
    });
    if (!again) claims.push_back({entry.tensor, {entry.buffer->base(), entry.size}, entry.planned});
  }
  std::erase_if(claims,
                [](const Claim& claim) { return claim.range.size <= Bytes(0) || claim.range.address == nullptr; });
  STOWAGE_TRY_STATUS(check_overlaps(graph, std::move(claims), taken));
  for (const auto& [buffer, memory] : settings) buffer->set(memory);
  entry_of_.resize(graph.tensors().size());
  for (Entry& entry : added) {
    if (Entry* const known = find(entry.representative)) {
      *known = std::move(entry);
      continue;
    }
    entry_of_[entry.representative.index()] = static_cast<std::uint32_t>(entries_.size() + 1);
    entries_.push_back(std::move(entry));
  }
  return Done{};
}

std::optional<Address> Callers::address(const Graph& graph, TensorId tensor) const {
  const AliasPlace& place = graph.relations().place(tensor);
  const Entry* const entry = find(place.representative);
  if (entry == nullptr) return std::nullopt;
  return Address{entry->buffer.get(), place.offset - graph.relations().place(entry->tensor).offset};
}

Buffer* Callers::buffer(TensorId tensor) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.planned && entry.tensor == tensor; });
  STOWAGE_CHECK(found != entries_.end(), "a user arena of a tensor that is not bound");
  return found->buffer.get();
}

}  // namespace stowage::alloc
