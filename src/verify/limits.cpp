#include "verify/limits.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace stowage::verification {
namespace {

/// The size of the largest unit in each region. A unit is everything that must lie together, from its lowest to its
/// highest byte, with its padding.
class Largest {
 public:
  Largest(const Case& input, const Links& links, const Copies& copies, std::size_t cells)
      : links_(links), padding_(input.padding), by_cell_(cells) {
    for (std::size_t t = 0; t < input.graph.tensors().size(); ++t) {
      const Place* const place = input.places.valid(TensorId(t));
      if (!place) continue;
      const Tensor& tensor = input.graph.tensors()[t];
      add(number(input.values.of(TensorId(t)).index()), *place, tensor.size, input.graph.alignment(TensorId(t)));
      // A planner may have fused such inputs into one contiguous range.
      if (tensor.flags.has(TensorFlag::zero_copy) && tensor.flags.has(TensorFlag::input)) {
        add(kFused, *place, tensor.size, input.graph.alignment(TensorId(t)));
      }
    }
    for (std::uint32_t i = 0; i < copies.size(); ++i) {
      if (copies[i].exists()) add(number(input.values.size() + i), copies[i].to, copies[i].to.size, Bytes(1));
    }
    for (std::size_t k = 0; k < input.graph.ops().size(); ++k) {
      const std::vector<Workspace>& workspaces = input.graph.ops()[k].workspaces;
      for (std::uint32_t w = 0; w < workspaces.size(); ++w) {
        const Place* const place = input.places.of(WorkspaceId{OpId(k), w});
        if (place && place->cell) raise(*place->cell, padded(workspaces[w].size, input.graph.alignment(workspaces[w])));
      }
    }
  }

  [[nodiscard]] Bytes in(std::size_t cell) const { return by_cell_[cell]; }

 private:
  static constexpr std::size_t kFused = static_cast<std::size_t>(-1);

  struct Extent {
    ByteRange bytes;
    Bytes alignment;
  };

  [[nodiscard]] std::size_t number(std::size_t thing) const { return links_.demanded[thing]; }

  /// A unit that is spread over several regions is reported elsewhere; here each region counts separately.
  void add(std::size_t number, const Place& place, Bytes size, Bytes alignment) {
    const std::optional<ByteRange> bytes = range_at(place.offset, size);
    if (place.offset < Bytes(0) || !bytes || bytes->upper > kMaxBytes) return;
    Extent& extent = extents_.try_emplace({number, *place.cell}, Extent{*bytes, Bytes(1)}).first->second;
    extent.bytes = {std::min(extent.bytes.lower, bytes->lower), std::max(extent.bytes.upper, bytes->upper)};
    extent.alignment = std::max(extent.alignment, alignment);
    raise(*place.cell, padded(extent.bytes.length(), extent.alignment));
  }

  [[nodiscard]] Bytes padded(Bytes size, Bytes alignment) const {
    return padding_ == Padding::own ? align_up(size, alignment) : size;
  }
  void raise(std::size_t cell, Bytes size) { by_cell_[cell] = std::max(by_cell_[cell], size); }

  const Links& links_;
  Padding padding_;
  std::vector<Bytes> by_cell_;
  std::map<std::pair<std::size_t, std::size_t>, Extent> extents_;  ///< By unit and region.
};

/// The limit that the region exceeds.
std::optional<Bytes> exceeded_limit(const Case& input, const Arena& arena, Bytes region) {
  if (arena.memory.index() >= input.graph.memories().size()) return std::nullopt;
  if (arena.kind == ArenaKind::ring || arena.kind == ArenaKind::user) return std::nullopt;
  std::optional<Bytes> limit = input.graph.memory(arena.memory).max_size;
  if (input.options.region_limit) limit = std::min(limit.value_or(kMaxBytes), *input.options.region_limit);
  return limit && region > *limit ? limit : std::nullopt;
}

}  // namespace

void check_region_limits(const Case& input, const Links& links, const Copies& copies, Findings& findings) {
  std::optional<Largest> largest;
  std::size_t cell = 0;
  std::size_t cells = 0;
  for (const Arena& arena : input.plan.arenas) cells += arena.regions.size();
  for (std::size_t a = 0; a < input.plan.arenas.size(); ++a) {
    const Arena& arena = input.plan.arenas[a];
    for (std::size_t r = 0; r < arena.regions.size() && !findings.full(); ++r, ++cell) {
      const std::optional<Bytes> limit = exceeded_limit(input, arena, arena.regions[r]);
      if (!limit) continue;
      if (!largest) largest.emplace(input, links, copies, cells);
      const Bytes needed = largest->in(cell);
      if (arena.regions[r] <= needed) continue;
      findings.add(Rule::bounds, "region {} of {} has {} bytes, but memory '{}' allows {}, and {}", r,
                   describe(input.plan, ArenaId(a)), arena.regions[r].value(), input.graph.memory(arena.memory).name,
                   limit->value(),
                   needed <= *limit ? "nothing in the region is larger than that"
                                    : fmt::format("the largest thing in the region has {}", needed.value()));
    }
  }
}

}  // namespace stowage::verification
