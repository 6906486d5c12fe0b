#include "liveness/assembly.hpp"

#include <algorithm>

namespace stowage::liveness {

bool overlap_beside(std::span<const Interval> a, std::span<const Interval> b, std::span<const Step> allowed) {
  while (!a.empty() && !b.empty()) {
    const Interval common{std::max(a.front().lower, b.front().lower), std::min(a.front().upper, b.front().upper)};
    const bool one_step = common.upper == common.lower + Step(1);
    const bool fine = one_step && std::find(allowed.begin(), allowed.end(), common.lower) != allowed.end();
    if (common.lower < common.upper && !fine) return true;
    (a.front().upper < b.front().upper ? a : b) = (a.front().upper < b.front().upper ? a : b).subspan(1);
  }
  return false;
}

Assembly::Assembly(Liveness& result) : result_(result), places_(result.classes.size()), sets_(result.classes.size()) {}

Assembly::Where Assembly::where(ClassId id) {
  const OffsetUnion::Place place = places_.find(id.index());
  Set& set = sets_[place.representative];
  if (set.members.empty()) set.members.push_back({id, Bytes(0)});
  return {place.representative, place.offset};
}

bool Assembly::join_part(ClassId part, ByteRange of_part, ClassId whole, Bytes distance) {
  wholes_[part].push_back({whole, distance, of_part});
  if (join(part, whole, distance)) return true;
  wholes_[part].pop_back();
  if (wholes_[part].empty()) wholes_.erase(part);
  return false;
}

bool Assembly::join_aligned(ClassId a, ClassId b, Bytes distance, Bytes alignment) {
  const auto known = required_.find(a);
  const std::optional<Bytes> before = known == required_.end() ? std::nullopt : std::optional(known->second);
  if (require(a, alignment) && join(a, b, distance)) return true;
  require_only(a, before);
  return false;
}

bool Assembly::require(ClassId id, Bytes alignment) {
  const auto known = required_.find(id);
  const std::optional<Bytes> before = known == required_.end() ? std::nullopt : std::optional(known->second);
  required_[id] = std::max(alignment, before.value_or(alignment));
  if (is_aligned_together(sets_[where(id).set], {}, Bytes(0))) return true;
  require_only(id, before);
  return false;
}

void Assembly::require_only(ClassId id, std::optional<Bytes> alignment) {
  if (alignment) {
    required_[id] = *alignment;
  } else {
    required_.erase(id);
  }
}

Assembly::Snapshot Assembly::save(const std::vector<ClassId>& classes) {
  Snapshot snapshot;
  for (const ClassId id : classes) {
    const std::size_t set = where(id).set;
    const bool known =
        std::any_of(snapshot.sets_.begin(), snapshot.sets_.end(), [&](const auto& each) { return each.first == set; });
    if (known) continue;
    snapshot.sets_.emplace_back(set, sets_[set]);
    for (const Member& member : sets_[set].members) {
      const auto required = required_.find(member.id);
      snapshot.places_.push_back(places_.save(member.id.index()));
      snapshot.required_.emplace_back(member.id, required == required_.end() ? std::nullopt : std::optional(required->second));
    }
  }
  return snapshot;
}

void Assembly::restore(const Snapshot& snapshot) {
  for (const auto& [set, content] : snapshot.sets_) sets_[set] = content;
  for (const OffsetUnion::Saved& place : snapshot.places_) places_.restore(place);
  for (const auto& [id, alignment] : snapshot.required_) require_only(id, alignment);
}

void Assembly::hand_over(ClassId a, ClassId b, Step step) { hand_overs_[std::minmax(a, b)].push_back(step); }

bool Assembly::is_part(ClassId part, ByteRange bytes, ClassId whole) const {
  const auto found = wholes_.find(part);
  if (found == wholes_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const Whole& each) {
    if (!each.bytes.contains(bytes)) return false;
    const ByteRange moved{bytes.lower + each.distance, bytes.upper + each.distance};
    return each.id == whole || (each.id != part && is_part(each.id, moved, whole));
  });
}

bool Assembly::may_meet(ClassId a, ByteRange of_a, ClassId b, ByteRange of_b) const {
  if (is_part(a, of_a, b) || is_part(b, of_b, a)) return true;
  const auto given = hand_overs_.find(std::minmax(a, b));
  const std::span<const Step> steps = given == hand_overs_.end() ? std::span<const Step>() : std::span(given->second);
  if (result_.order.streams() > 1 && steps.empty()) return false;
  return !overlap_beside(result_.classes[a.index()].needed(), result_.classes[b.index()].needed(), steps);
}

ByteRange Assembly::bytes_of(const Member& member, Bytes shift) const {
  const Bytes offset = member.offset + shift;
  return {offset, offset + result_.classes[member.id.index()].size};
}

Bytes Assembly::alignment_of(ClassId id) const {
  const AliasClass& klass = result_.classes[id.index()];
  const Bytes own = wholes_.contains(id) ? klass.own_alignment : klass.alignment;
  const auto required = required_.find(id);
  return required == required_.end() ? own : std::max(own, required->second);
}

bool Assembly::collide_with_slots(const Set& classes, const Set& slots, Bytes shift) const {
  return std::any_of(classes.members.begin(), classes.members.end(), [&](const Member& member) {
    return std::any_of(slots.slots.begin(), slots.slots.end(), [&](const Slot& slot) {
      const bool alone =
          result_.order.streams() == 1 && !overlap_beside(result_.classes[member.id.index()].needed(), slot.lives, {});
      return slot.bytes.overlaps(bytes_of(member, shift)) && !alone;
    });
  });
}

/// `shift` is how far b's offsets must move to count as a's do.
bool Assembly::collide(const Set& a, const Set& b, Bytes shift) const {
  for (const Member& first : a.members) {
    for (const Member& second : b.members) {
      const ByteRange x = bytes_of(first, Bytes(0));
      const ByteRange y = bytes_of(second, shift);
      if (!x.overlaps(y)) continue;
      const ByteRange common{std::max(x.lower, y.lower), std::min(x.upper, y.upper)};
      const auto from = [&](Bytes start) { return ByteRange{common.lower - start, common.upper - start}; };
      if (!may_meet(first.id, from(x.lower), second.id, from(y.lower))) return true;
    }
  }
  for (const Slot& first : a.slots) {
    for (const Slot& second : b.slots) {
      const ByteRange moved{second.bytes.lower + shift, second.bytes.upper + shift};
      const bool alone = result_.order.streams() == 1 && !overlap_beside(first.lives, second.lives, {});
      if (first.bytes.overlaps(moved) && !alone) return true;
    }
  }
  return collide_with_slots(a, b, Bytes(0) - shift) || collide_with_slots(b, a, shift);
}

/// The lowest byte of a storage is at a multiple of its largest alignment; everything else must find its own there.
bool Assembly::is_aligned_together(const Set& a, const Set& b, Bytes shift) const {
  Bytes lowest = kMaxBytes;
  const auto visit = [&](const auto& f) {
    for (const Member& member : a.members) f(member.offset, alignment_of(member.id));
    for (const Slot& slot : a.slots) f(slot.bytes.lower, slot.alignment);
    for (const Member& member : b.members) f(member.offset + shift, alignment_of(member.id));
    for (const Slot& slot : b.slots) f(slot.bytes.lower + shift, slot.alignment);
  };
  visit([&](Bytes offset, Bytes) { lowest = std::min(lowest, offset); });
  bool aligned = true;
  visit([&](Bytes offset, Bytes alignment) { aligned = aligned && is_aligned(offset - lowest, alignment); });
  return aligned;
}

bool Assembly::join(ClassId a, ClassId b, Bytes distance) {
  const Where first = where(a);
  const Where second = where(b);
  const Bytes shift = second.offset + distance - first.offset;  // of a's set, to count as b's
  if (first.set == second.set) return shift == Bytes(0);
  Set& from = sets_[first.set];
  Set& to = sets_[second.set];
  if (collide(to, from, shift) || !is_aligned_together(to, from, shift)) return false;
  const bool joined = places_.join(first.set, second.set, shift);
  STOWAGE_CHECK(joined, "two sets contradict each other");
  for (const Member& member : from.members) to.members.push_back({member.id, member.offset + shift});
  for (Slot& slot : from.slots)
    to.slots.push_back({{slot.bytes.lower + shift, slot.bytes.upper + shift}, std::move(slot.lives), slot.alignment});
  from = {};
  return true;
}

bool Assembly::add_slots(std::size_t set, std::vector<Slot> slots) {
  Set added;
  added.slots = std::move(slots);
  if (collide(sets_[set], added, Bytes(0)) || !is_aligned_together(sets_[set], added, Bytes(0))) return false;
  for (Slot& slot : added.slots) sets_[set].slots.push_back(std::move(slot));
  return true;
}

std::size_t Assembly::add_set(MemoryId memory, bool fixed) {
  sets_.push_back({.members = {}, .slots = {}, .memory = memory, .fixed = fixed});
  return sets_.size() - 1;
}

std::vector<std::optional<Assembly::Built>> Assembly::build() {
  std::vector<std::optional<Built>> built(sets_.size());
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    Set& set = sets_[s];
    if (set.members.size() < 2 && set.slots.empty()) continue;
    Bytes lowest = kMaxBytes;
    for (const Member& member : set.members) lowest = std::min(lowest, member.offset);
    for (const Slot& slot : set.slots) lowest = std::min(lowest, slot.bytes.lower);
    Storage storage{
        .classes = {}, .size = {}, .alignment = Bytes(1), .slots = {}, .rigid = true, .memory = set.memory, .fixed = set.fixed};
    for (const Member& member : set.members) {
      AliasClass& klass = result_.classes[member.id.index()];
      if (const auto wholes = wholes_.find(member.id); wholes != wholes_.end()) {
        klass.packed = true;
        for (const Whole& whole : wholes->second) result_.classes[whole.id.index()].has_parts = true;
      }
      klass.storage = StorageId(result_.storages.size());
      klass.offset = member.offset - lowest;
      storage.classes.push_back(member.id);
      storage.size = std::max(storage.size, klass.offset + klass.size);
      storage.alignment = std::max(storage.alignment, alignment_of(member.id));
    }
    for (Slot& slot : set.slots) {
      const ByteRange bytes{slot.bytes.lower - lowest, slot.bytes.upper - lowest};
      storage.size = std::max(storage.size, bytes.upper);
      storage.alignment = std::max(storage.alignment, slot.alignment);
      storage.slots.push_back({bytes, std::move(slot.lives)});
    }
    built[s] = Built{StorageId(result_.storages.size()), lowest};
    result_.storages.push_back(std::move(storage));
  }
  return built;
}

}  // namespace stowage::liveness
