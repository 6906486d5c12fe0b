#include "layout/derivations.hpp"

#include <algorithm>

namespace stowage::layout {
namespace {

ByteRange shifted(ByteRange bytes, Bytes shift) { return {bytes.lower + shift, bytes.upper + shift}; }

ByteRange common(ByteRange a, ByteRange b) { return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)}; }

}  // namespace

void Derivations::collect_writes() {
  if (collected_) return;
  collected_ = true;
  for (std::size_t k = 0; k < input_.graph.ops().size(); ++k) {
    const Op& op = input_.graph.ops()[k];
    if (op.no_task) continue;
    for (const TensorId output : op.outputs) {
      const ClassPlace at = input_.place(output);
      writes_[at.id].push_back({OpId(k), {at.offset, at.offset + input_.graph.tensor(output).size}});
      const bool given = input_.sharing.flags[at.id].any_of(kOwnAddress | TensorFlag::input);
      any_rewritten_ = any_rewritten_ || given || writes_[at.id].size() > 1 || input_.graph.has_bodies();
    }
  }
}

void Derivations::add(const Derivation& derivation) {
  by_source_[derivation.source].push_back(derivation);
  by_made_[derivation.made].push_back(derivation);
}

/// The source of the derivation, and all that it is derived from.
std::vector<Derivations::Relative> Derivations::sources_of(const Derivation& derivation) const {
  std::vector<Relative> found = {{derivation.source, derivation.bytes, Bytes(0), derivation.op}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Relative made = found[i];
    const auto known = by_made_.find(made.id);
    if (known == by_made_.end()) continue;
    for (const Derivation& each : known->second) {
      const ByteRange bytes = common(shifted(made.bytes, Bytes(0) - each.shift), each.bytes);
      if (!bytes.empty()) found.push_back({each.source, bytes, made.shift - each.shift, each.op});
    }
  }
  return found;
}

/// What the derivation makes, and all that is derived from that.
std::vector<Derivations::Relative> Derivations::made_of(const Derivation& derivation) const {
  std::vector<Relative> found = {
      {derivation.made, shifted(derivation.bytes, derivation.shift), derivation.shift, derivation.op}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Relative source = found[i];
    const auto known = by_source_.find(source.id);
    if (known == by_source_.end()) continue;
    for (const Derivation& each : known->second) {
      const ByteRange bytes = common(source.bytes, each.bytes);
      if (!bytes.empty()) found.push_back({each.made, shifted(bytes, each.shift), source.shift + each.shift, each.op});
    }
  }
  return found;
}

bool Derivations::would_lose(const Derivation& derivation) {
  collect_writes();
  if (!any_rewritten_) return false;
  const std::vector<Relative> made = made_of(derivation);
  for (const Relative& written : sources_of(derivation)) {
    for (const Relative& needed : made) {
      if (is_lost(written, needed)) return true;
    }
  }
  return false;
}

bool Derivations::is_lost(const Relative& written, const Relative& needed) const {
  if (written.id == needed.id) return false;
  const ByteRange shared = common(shifted(written.bytes, Bytes(0) - written.shift),  //
                                  shifted(needed.bytes, Bytes(0) - needed.shift));
  return std::any_of(writes_[written.id].begin(), writes_[written.id].end(), [&](const Write& write) {
    return shifted(write.bytes, Bytes(0) - written.shift).overlaps(shared) &&
           is_needed_after(written, needed.id, write.op);
  });
}

/// Whether somebody may need the value of `needed` when the op writes, or after that.
bool Derivations::is_needed_after(const Relative& written, ClassId needed, OpId write) const {
  const Timeline& timeline = input_.timeline;
  const std::span<const Step> accesses = input_.accesses[needed];
  const bool kept = input_.sharing.flags[needed].has(TensorFlag::output);
  const Life life = life_of(timeline, accesses, {.before = false, .after = kept});
  for (const Interval& span : timeline.spans(write)) {
    for (const Interval& live : life.needed()) {
      if (live.overlaps(span)) return true;
    }
    if (input_.order.streams() == 1) continue;
    const std::span<const Interval> derived = timeline.spans(written.op);
    const bool anew = std::all_of(derived.begin(), derived.end(), [&](const Interval& each) {
      return input_.order.before(span.upper - Step(1), each.lower);
    });
    if (anew) continue;  // what is derived after the write is what was written
    const bool over = std::all_of(accesses.begin(), accesses.end(), [&](Step access) {
      return !compatible(timeline, access, span.lower) || input_.order.before(access, span.lower);
    });
    if (!over) return true;
  }
  return false;
}

}  // namespace stowage::layout
