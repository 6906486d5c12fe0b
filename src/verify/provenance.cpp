#include "verify/provenance.hpp"

#include <array>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace stowage::verification {

Provenance::Provenance(const Links& links) {
  for (const Packed& packed : links.packed) {
    const auto source = static_cast<HolderId>(packed.source.index());
    const auto derived = static_cast<HolderId>(packed.derived.index());
    sources_[derived].add({source, packed.bytes, packed.op});
    derived_[source].add({derived, packed.bytes, packed.op});
    cuts_[packed.cell].push_back(packed.bytes.lower);
    cuts_[packed.cell].push_back(packed.bytes.upper);
  }
  for (Parts* parts : {&sources_, &derived_}) {
    for (auto& [value, list] : *parts) list.sort();
  }
  for (auto& [cell, cuts] : cuts_) {
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  }
}

void Provenance::PartList::sort() {
  by_lower_.resize(parts_.size());
  std::iota(by_lower_.begin(), by_lower_.end(), 0U);
  std::sort(by_lower_.begin(), by_lower_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(parts_[a].bytes.lower, a) < std::pair(parts_[b].bytes.lower, b);
  });
  reach_.resize(parts_.size());
  find_reach(0, parts_.size());
}

Bytes Provenance::PartList::find_reach(std::size_t begin, std::size_t end) {
  if (begin == end) return Bytes(0);
  const std::size_t middle = begin + (end - begin) / 2;
  const Bytes below = std::max(find_reach(begin, middle), find_reach(middle + 1, end));
  return reach_[middle] = std::max(below, parts_[by_lower_[middle]].bytes.upper);
}

void Provenance::PartList::collect(std::size_t begin, std::size_t end, ByteRange bytes,
                                   std::vector<std::uint32_t>& positions) const {
  if (begin == end) return;
  const std::size_t middle = begin + (end - begin) / 2;
  if (reach_[middle] <= bytes.lower) return;
  collect(begin, middle, bytes, positions);
  const ByteRange& own = parts_[by_lower_[middle]].bytes;
  if (own.overlaps(bytes)) positions.push_back(by_lower_[middle]);
  if (own.lower < bytes.upper) collect(middle + 1, end, bytes, positions);
}

bool Provenance::accepts(HolderId value, HolderId source, ByteRange bytes) const {
  if (value == source) return true;
  if (sources_.empty() || !sources_.contains(value)) return false;
  const std::array<const Parts*, 1> upwards = {&sources_};
  const std::vector<HolderId> reached = reach(upwards, value, bytes);
  return std::find(reached.begin(), reached.end(), source) != reached.end();
}

std::vector<HolderId> Provenance::dependents(HolderId source, ByteRange bytes) const {
  const std::array<const Parts*, 1> downwards = {&derived_};
  return reach(downwards, source, bytes);
}

std::vector<HolderId> Provenance::relatives(HolderId value, ByteRange bytes) const {
  const std::array<const Parts*, 2> both = {&sources_, &derived_};
  std::vector<HolderId> reached = reach(both, value, bytes);
  reached.erase(reached.begin());
  return reached;
}

/// Parts and wholes share the same bytes of a region, so byte ranges need no translation between them.
std::vector<HolderId> Provenance::reach(std::span<const Parts* const> lists, HolderId from, ByteRange bytes) {
  std::vector<HolderId> reached = {from};
  std::unordered_set<HolderId> known = {from};
  std::vector<std::uint32_t> positions;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const Parts* const parts : lists) {
      const auto found = parts->find(reached[i]);
      if (found == parts->end()) continue;
      positions.clear();
      found->second.overlapping(bytes, positions);
      std::sort(positions.begin(), positions.end());
      for (const std::uint32_t position : positions) {
        const HolderId other = found->second.all()[position].other;
        if (known.insert(other).second) reached.push_back(other);
      }
    }
  }
  return reached;
}

}  // namespace stowage::verification
