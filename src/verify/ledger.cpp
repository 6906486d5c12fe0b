#include "verify/ledger.hpp"

#include <algorithm>

#include "verify/in_place.hpp"

namespace stowage::verification {

Ledger::Ledger(const Setting& setting, Conflicts& conflicts)
    : facts_(setting.facts),
      links_(setting.links),
      provenance_(setting.provenance),
      run_(setting.run),
      order_(setting.order),
      conflicts_(conflicts),
      state_(setting.facts.claims, setting.order, setting.provenance, setting.cells),
      shared_(setting.facts, setting.provenance, setting.order, state_, conflicts),
      reserved_(setting.cells),
      filled_(setting.links.kin.size()),
      met_clears_(setting.facts.clears.size()) {
  for (std::size_t value = 0; value < filled_.size(); ++value) {
    if (facts_.input.values[ValueId(value)].filled) filled_[links_.kin[value]] = 1;
  }
}

bool Ledger::is_tracked(HolderId holder) const {
  if (!facts_.claims.has_any(holder)) return false;
  if (!facts_.claims.is_value(holder) || !facts_.input.values[ValueId(holder)].persistent()) return true;
  return !provenance_.stands_alone(holder);
}

ClaimId Ledger::claim_at(HolderId holder, const Spot& spot) const {
  return facts_.claims.find(holder, spot.cell, spot.bytes).value_or(kNobody);
}

bool Ledger::accepts(HolderId holder, ClaimId content, ByteRange bytes) const {
  if (content == kNobody) return false;
  const HolderId other = facts_.claims[content].holder;
  return other == holder || provenance_.accepts(holder, other, bytes);
}

// -------------------------------------------------------------------------------------------------- for the whole run

void Ledger::reserve(HolderId value) {
  facts_.claims.for_each(value, [&](ClaimId id) {
    const Claim& claim = facts_.claims[id];
    check_reserved(id, claim.bytes);
    reserved_[claim.cell].assign(claim.bytes, id);
  });
}

void Ledger::check_reserved(ClaimId claim, ByteRange bytes) {
  const IntervalMap<ClaimId>& reserved = reserved_[facts_.claims[claim].cell];
  if (reserved.empty()) return;
  const HolderId holder = facts_.claims[claim].holder;
  reserved.visit(bytes, [&](ByteRange shared, ClaimId id) {
    const HolderId owner = facts_.claims[id].holder;
    if (owner == holder) return;
    if (facts_.claims.is_clear(holder) && filled_[links_.kin[owner]] != 0) return;
    if (facts_.claims.is_value(holder) && links_.kin[owner] == links_.kin[holder]) return;
    conflicts_.overwritten(id, claim, shared);
  });
}

void Ledger::begin_at_start(HolderId value) {
  if (!is_tracked(value)) return;
  take_all(value, std::nullopt);
}

void Ledger::require_at_end(HolderId holder) {
  if (is_tracked(holder) && state_[holder].begun) check_intact(holder, std::nullopt);
}

// ------------------------------------------------------------------------------------------------------------- events

void Ledger::access(HolderId holder, Moment moment) {
  if (!is_tracked(holder)) return;
  if (!state_[holder].begun) {
    state_.begin(holder);
    new_.push_back(holder);
  } else if (std::find(new_.begin(), new_.end(), holder) == new_.end()) {
    check_intact(holder, moment);
  }
  const bool elsewhere = state_.touch(holder, moment);
  if (elsewhere) check_floors(holder, moment);
}

void Ledger::settle(Moment moment) {
  for (const HolderId holder : new_) take_all(holder, moment);
  new_.clear();
}

void Ledger::clear(std::uint32_t index, Moment moment) {
  const HolderId holder = facts_.claims.of_clear(index);
  state_.forget(holder);
  if (!facts_.clears[index].at_start) state_.touch(holder, moment);
  const ClaimId claim = facts_.claims.first(holder);
  take(claim, facts_.claims[claim].bytes, moment, Mode::write);
}

void Ledger::require_filled(OpId op, HolderId holder, const Spot& spot, std::uint8_t value) {
  const ClaimId wanted = claim_at(holder, spot);
  if (wanted == kNobody) return;
  state_.visit(spot.cell, spot.bytes, [&](ByteRange bytes, ContentId content) {
    state_.for_each_claim(content, [&](ClaimId found) {
      if (found != kNobody && facts_.claims.is_clear(facts_.claims[found].holder)) {
        const std::uint32_t clear = facts_.claims.clear(facts_.claims[found].holder);
        met_clears_[clear] = true;
        if (facts_.clears[clear].value == value) return;
      }
      conflicts_.unfilled(op, wanted, value, bytes, found);
    });
  });
}

void Ledger::write(HolderId holder, const Spot& spot, Moment moment) {
  const ClaimId claim = claim_at(holder, spot);
  if (claim == kNobody || !is_tracked(holder)) return;
  const bool is_new = !state_[holder].begun;
  if (state_.touch(holder, moment)) check_floors(holder, moment);
  take(claim, facts_.claims[claim].with_padding(spot.bytes), moment, Mode::write);
  if (is_new) take_all(holder, moment);
}

void Ledger::write_copy(std::uint32_t index, Moment moment) {
  const HolderId holder = facts_.claims.of_copy(index);
  if (!is_tracked(holder)) return;
  state_.forget(holder);
  state_.touch(holder, moment);
  state_.begin(holder);
  const ClaimId claim = facts_.claims.first(holder);
  take(claim, facts_.claims[claim].bytes, moment, Mode::write);
}

void Ledger::hand_over(HolderId from, HolderId to, const Spot& spot, Moment moment) {
  const ClaimId source = claim_at(from, spot);
  const ClaimId target = claim_at(to, spot);
  if (source == kNobody || target == kNobody) return;
  if (state_[from].begun) {
    check_bytes(source, spot.bytes, moment);
    state_.touch(from, moment);
  } else {
    access(from, moment);
    settle(moment);
  }
  const bool is_new = !state_[to].begun;
  if (state_.touch(to, moment)) check_floors(to, moment);
  take(target, facts_.claims[target].with_padding(spot.bytes), moment, Mode::write);
  if (is_new) take_all(to, moment);
}

// -------------------------------------------------------------------------------------------------------- whose bytes

void Ledger::take_all(HolderId holder, std::optional<Moment> moment) {
  if (!provenance_.stands_alone(holder)) check_sources(holder, moment);
  facts_.claims.for_each(holder, [&](ClaimId id) { take(id, facts_.claims[id].bytes, moment, Mode::claim); });
  state_.begin(holder);
  state_.set_clean(holder);
}

void Ledger::check_sources(HolderId holder, std::optional<Moment> moment) {
  provenance_.for_each_source(holder, [&](const Provenance::Part& part) {
    if (!run_.is_active(part.op) || !state_[part.other].begun) return;
    facts_.claims.for_each(part.other, [&](ClaimId id) {
      if (facts_.claims[id].bytes.contains(part.bytes)) check_bytes(id, part.bytes, moment);
    });
  });
}

void Ledger::take(ClaimId claim, ByteRange bytes, std::optional<Moment> moment, Mode mode) {
  const Claim& taken = facts_.claims[claim];
  check_reserved(claim, bytes);
  std::vector<ByteRange> kept;
  visit(taken.cell, bytes, [&](ByteRange shared, ContentId content) {
    // With one stream, the only accesses at this moment are those of the op itself, to values that were found intact.
    // Contested bytes belong to no such value.
    if (state_.is_contested(content) && moment && order_.streams() == 1) return;
    bool keep = mode == Mode::claim;
    state_.for_each_claim(content, [&](ClaimId old) { keep = keep && accepts(taken.holder, old, shared); });
    if (keep) {
      kept.push_back(shared);
      return;
    }
    state_.for_each_claim(content, [&](ClaimId old) {
      if (old != kNobody && facts_.claims[old].holder != taken.holder) overwrite(old, claim, shared, moment);
    });
  });
  Bytes at = bytes.lower;
  for (const ByteRange& range : kept) {
    state_.assign(taken.cell, {at, range.lower}, claim);
    at = range.upper;
  }
  state_.assign(taken.cell, {at, bytes.upper}, claim);
}

/// Overwriting bytes of `old` affects all values that are made of them.
void Ledger::overwrite(ClaimId old, ClaimId claim, ByteRange shared, std::optional<Moment> moment) {
  const HolderId before = facts_.claims[old].holder;
  const HolderId holder = facts_.claims[claim].holder;
  if (provenance_.stands_alone(before)) {
    check_over(before, old, claim, shared, moment);
    return;
  }
  if (provenance_.accepts(before, holder, shared)) return;
  for (const HolderId dependent : provenance_.dependents(before, shared)) {
    const bool needed = dependent == before || state_[dependent].begun;
    if (needed && !provenance_.accepts(dependent, holder, shared)) check_over(dependent, old, claim, shared, moment);
  }
}

void Ledger::check_over(HolderId dependent, ClaimId old, ClaimId claim, ByteRange shared,
                        std::optional<Moment> moment) {
  const bool itself = facts_.claims[old].holder == dependent;
  const ClaimId named = itself ? old : facts_.claims.first(dependent);
  if (!moment) {
    conflicts_.overwritten(named, claim, shared);
    return;
  }
  const HolderId holder = facts_.claims[claim].holder;
  const Claim& earlier = facts_.claims[named];
  for (const Access& access : state_[dependent].accesses) {
    if (!order_.happens_before(access.moment, *moment)) {
      const bool same_op = access.moment == *moment && moment->phase == Phase::run;
      if (!same_op || !itself || !may_take_over(facts_, OpId(moment->op), earlier, facts_.claims[claim], shared))
        conflicts_.overwritten(named, claim, shared, std::pair(access.moment, *moment));
    }
    if (order_.streams() > 1) state_.add_floor(holder, {access.moment, named});
  }
}

void Ledger::check_floors(HolderId holder, Moment moment) {
  for (const Access& floor : state_[holder].floors) {
    if (floor.moment == moment || order_.happens_before(floor.moment, moment)) continue;
    const ClaimId mine = facts_.claims.first(holder);
    const ByteRange a = facts_.claims[floor.claim].bytes;
    const ByteRange b = facts_.claims[mine].bytes;
    conflicts_.overwritten(floor.claim, mine, {std::max(a.lower, b.lower), std::min(a.upper, b.upper)},
                           std::pair(floor.moment, moment));
  }
}

void Ledger::check_intact(HolderId holder, std::optional<Moment> moment) {
  if (state_.is_clean(holder) && provenance_.stands_alone(holder)) return;
  bool intact = true;
  facts_.claims.for_each(holder,
                         [&](ClaimId id) { intact = check_bytes(id, facts_.claims[id].bytes, moment) && intact; });
  if (intact) state_.set_clean(holder);
}

bool Ledger::check_bytes(ClaimId claim, ByteRange bytes, std::optional<Moment> moment) {
  bool intact = true;
  visit(facts_.claims[claim].cell, bytes, [&](ByteRange part, ContentId content) {
    state_.for_each_claim(content, [&](ClaimId found) {
      if (accepts(facts_.claims[claim].holder, found, part)) return;
      intact = false;
      conflicts_.lost(claim, found, part, moment);
    });
  });
  return intact;
}

}  // namespace stowage::verification
