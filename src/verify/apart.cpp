#include "verify/apart.hpp"

#include <optional>

namespace stowage::verification {
namespace {

/// The bytes of a tensor in a region.
struct PlacedTensor {
  std::size_t cell;
  ArenaId arena;
  ByteRange bytes;      ///< Including padding.
  bool padded = false;  ///< Whether there is any.
};

class PlacedTensors {
 public:
  PlacedTensors(const Case& input, const Claims& claims, const Cells& cells)
      : input_(input), claims_(claims), cells_(cells) {}

  /// Where the tensor lies: where the plan places it, or in the caller's buffer that it is bound to, if that hosts
  /// others. Nothing for tensors that lie elsewhere, or nowhere.
  [[nodiscard]] std::optional<PlacedTensor> of(TensorId id) const {
    const Bytes size = input_.graph.tensor(id).size;
    if (const Place* const place = input_.places.valid(id)) {
      const std::optional<ByteRange> bytes = range_at(place->offset, size);
      return bytes ? std::optional(with_padding(id, {*place->cell, place->arena, *bytes})) : std::nullopt;
    }
    const Bindings::Bound* const bound = input_.bindings.of(input_.values.of(id));
    if (!bound || !bound->arena || input_.plan.arenas[bound->arena->index()].regions.empty()) return std::nullopt;
    const Bytes start = input_.values.offset(id) - input_.values.offset(bound->tensor);
    return PlacedTensor{cells_.first(*bound->arena), *bound->arena, {start, start + size}};
  }

 private:
  [[nodiscard]] PlacedTensor with_padding(TensorId id, PlacedTensor tensor) const {
    const auto holder = static_cast<HolderId>(input_.values.of(id).index());
    const std::optional<ClaimId> claim = claims_.find(holder, tensor.cell, tensor.bytes);
    if (!claim || tensor.bytes.empty()) return tensor;
    const ByteRange all = claims_[*claim].with_padding(tensor.bytes);
    return {tensor.cell, tensor.arena, all, all != tensor.bytes};
  }

  const Case& input_;
  const Claims& claims_;
  const Cells& cells_;
};

std::string words_for(const Graph& graph, TensorId id, const PlacedTensor& tensor) {
  return fmt::format("{} at {}{}", describe(graph, id), describe(tensor.bytes),
                     tensor.padded ? " with its padding" : "");
}

}  // namespace

void check_apart(const Case& input, const Claims& claims, const Cells& cells, Findings& findings) {
  const PlacedTensors tensors(input, claims, cells);
  for (const auto& [a, b] : input.graph.apart()) {
    const std::optional<PlacedTensor> first = tensors.of(a);
    const std::optional<PlacedTensor> second = tensors.of(b);
    if (!first || !second || first->cell != second->cell || first->bytes.empty() || second->bytes.empty()) continue;
    if (first->bytes.upper <= second->bytes.lower || second->bytes.upper <= first->bytes.lower) continue;
    findings.add(Rule::apart, "{} and {} of {} share bytes, but the graph keeps them apart",
                 words_for(input.graph, a, *first), words_for(input.graph, b, *second),
                 describe(input.plan, first->arena));
    if (findings.full()) return;
  }
}

}  // namespace stowage::verification
