#include "liveness/assembly.hpp"

#include <algorithm>

namespace stowage::liveness {

bool overlap_beside(std::span<const Interval> a, std::span<const Interval> b, std::span<const Step> allowed) {
  while (!a.empty() && !b.empty()) {
    const Interval common{std::max(a.front().lower, b.front().lower), std::min(a.front().upper, b.front().upper)};
    const bool one_step = common.upper == common.lower + Step(1);
    const bool fine = one_step && std::binary_search(allowed.begin(), allowed.end(), common.lower);
    if (common.lower < common.upper && !fine) return true;
    (a.front().upper < b.front().upper ? a : b) = (a.front().upper < b.front().upper ? a : b).subspan(1);
  }
  return false;
}

Assembly::Assembly(Liveness& result)
    : result_(result), places_(result.classes.size()), sets_(result.classes.size()), next_(result.classes.size(), kNone) {}

Assembly::Where Assembly::where(ClassId id) {
  const RevocableUnion::Place place = places_.find(id.index());
  Set& set = sets_[place.representative];
  if (set.outline.first == kNone) {
    set.outline = {.first = id.index(), .last = id.index(), .rank = id.index(), .lowest = Bytes(0)};
    set.alignments[alignment_of(id)] = 1;
    add_to_index(set, id.index(), Bytes(0));
  }
  return {place.representative, place.offset};
}

// -------------------------------------------------------------------------------------------------------------- alignments

Bytes Assembly::alignment_of(ClassId id) const {
  const AliasClass& klass = result_.classes[id.index()];
  const Bytes own = wholes_.contains(id) ? klass.own_alignment : klass.alignment;
  return std::max(own, required(id).value_or(own));
}

std::optional<Bytes> Assembly::required(ClassId id) const {
  const auto found = required_.find(id);
  return found == required_.end() ? std::nullopt : std::optional(found->second);
}

void Assembly::set_required(ClassId id, std::optional<Bytes> alignment) {
  const Bytes before = alignment_of(id);
  if (changes_) changes_->push_back({.member = id.index(), .joined = false, .required = required(id)});
  if (alignment) {
    required_[id] = *alignment;
  } else {
    required_.erase(id);
  }
  change_alignment(where(id).set, before, alignment_of(id));
}

/// A member insists on something else now.
void Assembly::change_alignment(std::size_t set, Bytes before, Bytes after) {
  if (before == after) return;
  std::map<Bytes, std::size_t>& alignments = sets_[set].alignments;
  if (--alignments[before] == 0) alignments.erase(before);
  ++alignments[after];
}

bool Assembly::require(ClassId id, Bytes alignment) {
  const Where at = where(id);
  if (!is_aligned(at.offset - sets_[at.set].outline.lowest, alignment)) return false;
  set_required(id, std::max(alignment, required(id).value_or(alignment)));
  return true;
}

/// The lowest byte of a storage is at a multiple of its largest alignment; everything else must find its own there. Within each
/// set that is so already, and alignments are powers of two: what holds for the largest when the lowest byte moves holds for all.
bool Assembly::is_aligned_together(const Set& a, const Set& b, Bytes shift) const {
  const Bytes lowest = std::min(a.outline.lowest, b.outline.lowest + shift);
  const auto fits = [&](const Set& set, Bytes at) {
    return set.alignments.empty() || is_aligned(at - lowest, set.alignments.rbegin()->first);
  };
  return fits(a, a.outline.lowest) && fits(b, b.outline.lowest + shift);
}

// --------------------------------------------------------------------------------------------------------------- who meets

void Assembly::hand_over(ClassId a, ClassId b, Step step) {
  std::vector<Step>& steps = hand_overs_[std::minmax(a, b)];
  steps.insert(std::upper_bound(steps.begin(), steps.end(), step), step);
}

bool Assembly::is_part(ClassId part, ByteRange bytes, ClassId whole) const {
  const auto found = wholes_.find(part);
  if (found == wholes_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const Whole& each) {
    if (!each.bytes.contains(bytes)) return false;
    const ByteRange moved{bytes.lower + each.distance, bytes.upper + each.distance};
    return each.id == whole || (each.id != part && is_part(each.id, moved, whole));
  });
}

bool Assembly::may_meet(const RectangleIndex::Entry& a, const RectangleIndex::Entry& b) const {
  if (!is_class(a.id) || !is_class(b.id)) return false;
  const ClassId first(a.id);
  const ClassId second(b.id);
  const ByteRange common{std::max(a.bytes.lower, b.bytes.lower), std::min(a.bytes.upper, b.bytes.upper)};
  const auto from = [&](Bytes start) { return ByteRange{common.lower - start, common.upper - start}; };
  if (is_part(first, from(a.bytes.lower), second) || is_part(second, from(b.bytes.lower), first)) return true;
  const auto given = hand_overs_.find(std::minmax(first, second));
  if (given == hand_overs_.end()) return false;
  if (result_.order.streams() == 1) return !overlap_beside({&a.steps, 1}, {&b.steps, 1}, given->second);
  return !overlap_beside(result_.classes[first.index()].needed(), result_.classes[second.index()].needed(), given->second);
}

/// On several streams everything is needed at one and the same step.
template <class F>
bool Assembly::any_entry(MemberId member, Bytes offset, F&& f) const {
  const auto id = static_cast<std::uint32_t>(member);
  if (!is_class(member) && !slot(member)) return false;
  const Bytes size = is_class(member) ? result_.classes[member].size : slot(member)->bytes.upper;
  const ByteRange bytes{offset, offset + size};
  if (result_.order.streams() > 1) return f(RectangleIndex::Entry{bytes, {Step(0), Step(1)}, id});
  const std::span<const Interval> needed = is_class(member) ? result_.classes[member].needed() : std::span(slot(member)->lives);
  return std::any_of(needed.begin(), needed.end(), [&](const Interval& steps) { return f({bytes, steps, id}); });
}

void Assembly::add_to_index(Set& set, MemberId member, Bytes offset) {
  any_entry(member, offset, [&](const RectangleIndex::Entry& entry) {
    set.index.add(entry);
    return false;
  });
}

bool Assembly::is_current(std::size_t set, const RectangleIndex::Entry& entry) const {
  if (sets_[set].left == 0) return true;
  const RevocableUnion::Place place = places_.find(entry.id);
  return place.representative == set && place.offset == entry.bytes.lower;
}

/// Whether a member whose lowest byte comes to lie at `offset` shares bytes that it may not.
bool Assembly::meets(std::size_t set, MemberId member, Bytes offset) const {
  return any_entry(member, offset, [&](const RectangleIndex::Entry& mine) {
    return sets_[set].index.any_overlapping(mine.bytes, mine.steps, [&](const RectangleIndex::Entry& theirs) {
      return is_current(set, theirs) && !may_meet(mine, theirs);
    });
  });
}

/// `shift` is how far the offsets of `from` must move to count as those of `to` do.
bool Assembly::collide(std::size_t to, std::size_t from, Bytes shift) const {
  const bool into = places_.count(to) >= places_.count(from);
  const std::size_t larger = into ? to : from;
  for (MemberId m = sets_[into ? from : to].outline.first; m != kNone; m = next_[m]) {
    if (meets(larger, m, places_.find(m).offset + (into ? shift : Bytes(0) - shift))) return true;
  }
  return false;
}

// ------------------------------------------------------------------------------------------------------------------- joins

bool Assembly::join_part(ClassId part, ByteRange of_part, ClassId whole, Bytes distance) {
  const std::size_t set = where(part).set;
  const Bytes before = alignment_of(part);
  wholes_[part].push_back({whole, distance, of_part});
  change_alignment(set, before, alignment_of(part));
  if (join(part, whole, distance)) return true;
  const Bytes relaxed = alignment_of(part);
  wholes_[part].pop_back();
  if (wholes_[part].empty()) wholes_.erase(part);
  change_alignment(set, relaxed, alignment_of(part));
  return false;
}

bool Assembly::join_aligned(ClassId a, ClassId b, Bytes distance, Bytes alignment) {
  const std::optional<Bytes> before = required(a);
  if (!require(a, alignment)) return false;
  if (join(a, b, distance)) return true;
  set_required(a, before);
  return false;
}

bool Assembly::join(ClassId a, ClassId b, Bytes distance) {
  const Where first = where(a);
  const Where second = where(b);
  const Bytes shift = second.offset + distance - first.offset;  // of a's set, to count as b's
  if (first.set == second.set) return shift == Bytes(0);
  if (!is_aligned_together(sets_[second.set], sets_[first.set], shift) || collide(second.set, first.set, shift)) return false;
  merge(second.set, first.set, shift);
  return true;
}

void Assembly::merge(std::size_t to, std::size_t from, Bytes shift) {
  const bool into = places_.count(to) >= places_.count(from);
  const std::size_t larger = into ? to : from;
  const std::size_t smaller = into ? from : to;
  const Bytes distance = into ? shift : Bytes(0) - shift;
  Set& set = sets_[larger];
  Set& added = sets_[smaller];
  if (changes_) changes_->push_back({.member = smaller, .joined = true, .required = {}, .before = set.outline});
  for (MemberId m = added.outline.first; m != kNone; m = next_[m]) add_to_index(set, m, places_.find(m).offset + distance);
  for (const auto& [alignment, count] : added.alignments) set.alignments[alignment] += count;
  places_.join(smaller, larger, distance);

  const Outline front = sets_[to].outline;
  const Outline back = sets_[from].outline;
  next_[front.last] = back.first;
  const Bytes lowest = std::min(set.outline.lowest, added.outline.lowest + distance);
  set.outline = front;
  set.outline.last = back.last;
  set.outline.lowest = lowest;
  if (!changes_) added = {};
}

bool Assembly::add_slots(std::size_t set, std::vector<Slot> slots) {
  const Outline& outline = sets_[set].outline;
  Bytes lowest = outline.lowest;
  for (const Slot& slot : slots) lowest = std::min(lowest, slot.bytes.lower);
  for (const Slot& slot : slots) {
    if (!is_aligned(slot.bytes.lower - lowest, slot.alignment)) return false;
  }
  const std::map<Bytes, std::size_t>& alignments = sets_[set].alignments;
  if (!alignments.empty() && !is_aligned(outline.lowest - lowest, alignments.rbegin()->first)) return false;

  const std::size_t first = places_.size();
  std::vector<Bytes> offsets;
  bool met = false;
  for (Slot& slot : slots) {
    const Bytes offset = slot.bytes.lower;
    const MemberId member = add_member(Slot{{Bytes(0), slot.bytes.length()}, std::move(slot.lives), slot.alignment});
    offsets.push_back(offset);
    met = met || meets(set, member, offset);
  }
  if (met) {
    while (places_.size() > first) remove_last_member();
    return false;
  }
  for (std::size_t i = 0; i < offsets.size(); ++i) merge(set, first + i, offsets[i]);
  return true;
}

std::size_t Assembly::add_set(MemoryId memory, bool fixed) {
  const MemberId member = add_member(std::nullopt);
  sets_[member].outline.memory = memory;
  sets_[member].outline.fixed = fixed;
  return member;
}

Assembly::MemberId Assembly::add_member(std::optional<Slot> slot) {
  const MemberId member = places_.add();
  next_.push_back(kNone);
  others_.push_back(std::move(slot));
  Set& set = sets_.emplace_back();
  set.outline.first = set.outline.last = set.outline.rank = member;
  if (!others_.back()) return member;
  set.outline.lowest = Bytes(0);
  set.alignments[others_.back()->alignment] = 1;
  return member;
}

void Assembly::remove_last_member() {
  places_.remove_last();
  next_.pop_back();
  others_.pop_back();
  sets_.pop_back();
}

// -------------------------------------------------------------------------------------------------------------------- undo

void Assembly::begin() {
  STOWAGE_CHECK(!changes_, "an assembly can be taken back to one point only");
  changes_.emplace();
  members_at_begin_ = places_.size();
}

void Assembly::undo() {
  const std::vector<Change> changes = std::move(*changes_);
  changes_.reset();
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    change->joined ? take_back(*change) : set_required(ClassId(change->member), change->required);
  }
  while (places_.size() > members_at_begin_) remove_last_member();
}

void Assembly::keep() {
  for (const Change& change : *changes_) {
    if (change.joined) sets_[change.member] = {};
  }
  changes_.reset();
}

/// The members stay in the index of the set that they leave until they are too many there.
void Assembly::take_back(const Change& change) {
  const std::size_t larger = places_.find(change.member).representative;
  Set& set = sets_[larger];
  const Set& added = sets_[change.member];
  for (const auto& [alignment, count] : added.alignments) {
    if ((set.alignments[alignment] -= count) == 0) set.alignments.erase(alignment);
  }
  // One of the two ended where the other went on.
  next_[change.before.last] = kNone;
  next_[added.outline.last] = kNone;
  set.outline = change.before;
  set.left += places_.count(change.member);
  places_.part(change.member);
  const bool forgotten = change.member >= members_at_begin_;  // its number will be another's
  if (forgotten || 2 * set.left > places_.count(larger)) index_anew(larger);
}

void Assembly::lives_changed(ClassId id) { index_anew(where(id).set); }

void Assembly::index_anew(std::size_t id) {
  Set& set = sets_[id];
  set.index = {};
  set.left = 0;
  for (MemberId m = set.outline.first; m != kNone; m = next_[m]) add_to_index(set, m, places_.find(m).offset);
}

// ------------------------------------------------------------------------------------------------------------------- build

std::vector<std::optional<Assembly::Built>> Assembly::build() {
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    if (places_.find(s).representative == s && places_.count(s) > 1) order.push_back(s);
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return sets_[a].outline.rank < sets_[b].outline.rank; });
  std::vector<std::optional<Built>> built(sets_.size());
  for (const std::size_t s : order) {
    built[s] = Built{StorageId(result_.storages.size()), sets_[s].outline.lowest};
    result_.storages.push_back(build_storage(sets_[s]));
  }
  return built;
}

Storage Assembly::build_storage(const Set& set) {
  Storage storage{.classes = {},
                  .size = {},
                  .alignment = set.alignments.rbegin()->first,
                  .slots = {},
                  .rigid = true,
                  .memory = set.outline.memory,
                  .fixed = set.outline.fixed};
  for (MemberId m = set.outline.first; m != kNone; m = next_[m]) {
    const Bytes offset = places_.find(m).offset - set.outline.lowest;
    if (is_class(m)) {
      build_class(ClassId(m), offset, storage);
    } else if (const std::optional<Slot>& copy = slot(m)) {
      storage.size = std::max(storage.size, offset + copy->bytes.upper);
      storage.slots.push_back({{offset, offset + copy->bytes.upper}, copy->lives});
    }
  }
  return storage;
}

void Assembly::build_class(ClassId id, Bytes offset, Storage& storage) {
  AliasClass& klass = result_.classes[id.index()];
  if (const auto wholes = wholes_.find(id); wholes != wholes_.end()) {
    klass.packed = true;
    for (const Whole& whole : wholes->second) result_.classes[whole.id.index()].has_parts = true;
  }
  klass.storage = StorageId(result_.storages.size());
  klass.offset = offset;
  storage.classes.push_back(id);
  storage.size = std::max(storage.size, offset + klass.size);
}

}  // namespace stowage::liveness
