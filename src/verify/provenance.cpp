#include "verify/provenance.hpp"

namespace stowage::verification {

Provenance::Provenance(const Links& links) {
  for (const Packed& packed : links.packed) {
    const auto source = static_cast<HolderId>(packed.source.index());
    const auto derived = static_cast<HolderId>(packed.derived.index());
    sources_[derived].push_back({source, packed.bytes, packed.op});
    derived_[source].push_back({derived, packed.bytes, packed.op});
    cuts_[packed.cell].push_back(packed.bytes.lower);
    cuts_[packed.cell].push_back(packed.bytes.upper);
  }
  for (auto& [cell, cuts] : cuts_) {
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  }
}

bool Provenance::accepts(HolderId value, HolderId source, ByteRange bytes) const {
  if (value == source) return true;
  if (sources_.empty() || !sources_.contains(value)) return false;
  const std::vector<HolderId> reached = reach(sources_, value, bytes);
  return std::find(reached.begin(), reached.end(), source) != reached.end();
}

std::vector<HolderId> Provenance::dependents(HolderId source, ByteRange bytes) const { return reach(derived_, source, bytes); }

/// Parts and wholes lie at fixed places, so that bytes need no translation on the way.
std::vector<HolderId> Provenance::reach(const Parts& parts, HolderId from, ByteRange bytes) {
  std::vector<HolderId> reached = {from};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto found = parts.find(reached[i]);
    if (found == parts.end()) continue;
    for (const Part& part : found->second) {
      if (!part.bytes.overlaps(bytes)) continue;
      if (std::find(reached.begin(), reached.end(), part.other) == reached.end()) reached.push_back(part.other);
    }
  }
  return reached;
}

}  // namespace stowage::verification
