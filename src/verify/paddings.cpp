#include "verify/paddings.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace stowage::verification {
namespace {

/// By value: the multiple to which its bytes are rounded up; 1: it has no padding.
std::vector<Bytes> find_multiples(const Case& input, const Links& links) {
  const Graph& graph = input.graph;
  std::vector<Bytes> multiples(input.values.size(), Bytes(1));
  const auto raise = [&](ValueId value, Bytes alignment) {
    const bool exact = input.values[value].ring || input.bindings.of(value) || links.part[value.index()] != 0;
    Bytes& multiple = multiples[value.index()];
    if (!exact) multiple = std::max(multiple, alignment);
  };
  for (std::size_t t = 0; t < graph.tensors().size(); ++t)
    raise(input.values.of(TensorId(t)), graph.alignment(TensorId(t)));
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const std::vector<Workspace>& workspaces = graph.ops()[k].workspaces;
    for (std::size_t w = 0; w < workspaces.size(); ++w)
      raise(input.values.of(OpId(k), w), graph.alignment(workspaces[w]));
  }
  return multiples;
}

/// What lies at distances from each other that groups and bodies demand.
class Neighbours {
 public:
  Neighbours(const Links& links, const Claims& claims) : links_(links), claims_(claims) {
    std::vector<std::uint32_t> members(links.demanded.size());
    for (const std::uint32_t number : links.demanded) ++members[number];
    for (ClaimId id = 0; id < claims.size(); ++id) {
      const HolderId holder = claims[id].holder;
      const bool alone = holder >= links.demanded.size() || members[links.demanded[holder]] < 2;
      if (!alone) tied_[{links.demanded[holder], claims[id].cell}].push_back(id);
    }
  }

  /// How far the padding of a claim may reach, at most up to `end`.
  [[nodiscard]] Bytes limit(const Claim& claim, Bytes end) const {
    const auto found = tied_.find({links_.demanded[claim.holder], claim.cell});
    if (found == tied_.end()) return end;
    for (const ClaimId id : found->second) {
      const Claim& other = claims_[id];
      if (other.holder == claim.holder || other.content().upper <= claim.bytes.upper) continue;
      end = std::min(end, std::max(claim.bytes.upper, other.bytes.lower));
    }
    return end;
  }

 private:
  const Links& links_;
  const Claims& claims_;
  std::map<std::pair<std::uint32_t, std::size_t>, std::vector<ClaimId>> tied_;  ///< By number and region.
};

}  // namespace

void add_paddings(const Case& input, const Links& links, Claims& claims) {
  const std::vector<Bytes> multiples = find_multiples(input, links);
  const Neighbours neighbours(links, claims);
  claims.pad([&](HolderId holder, Bytes lowest, const Claim& claim) {
    const Bytes end = lowest + align_up(claim.bytes.upper - lowest, multiples[holder]);
    return neighbours.limit(claim, end) - claim.bytes.upper;
  });
}

void check_paddings(const Case& input, const Claims& claims, const Cells& cells, Findings& findings) {
  for (ClaimId id = 0; id < claims.size() && !findings.full(); ++id) {
    const Claim& claim = claims[id];
    const std::size_t region = claim.cell - cells.first(claim.arena);
    const Bytes top = input.plan.arenas[claim.arena.index()].regions[region];
    if (claim.bytes.upper <= top || claim.content().upper > top) continue;
    findings.add(Rule::padding, "{} {} is padded up to {}, outside [0, {}), region {} of {}",
                 describe(input.graph, claim.subject), describe(claim.content()), claim.bytes.upper.value(),
                 top.value(), region, describe(input.plan, claim.arena));
  }
}

}  // namespace stowage::verification
