#include "layout/assembly.hpp"

#include <algorithm>

#include "layout/sequence.hpp"

namespace stowage::layout {

bool overlap_except(std::span<const Interval> a, std::span<const Interval> b, std::span<const Step> allowed) {
  while (!a.empty() && !b.empty()) {
    const Interval common{std::max(a.front().lower, b.front().lower), std::min(a.front().upper, b.front().upper)};
    const bool one_step = common.upper == common.lower + Step(1);
    const bool fine = one_step && std::binary_search(allowed.begin(), allowed.end(), common.lower);
    if (common.lower < common.upper && !fine) return true;
    (a.front().upper < b.front().upper ? a : b) = (a.front().upper < b.front().upper ? a : b).subspan(1);
  }
  return false;
}

Assembly::Assembly(const StorageInput& input, const ByClass<Life>& lives)
    : input_(input),
      classes_(input.classes),
      lives_(lives),
      streams_(input.order.streams()),
      places_(classes_.size()),
      sets_(classes_.size()),
      next_(classes_.size(), kNone) {}

Assembly::PlaceInSet Assembly::where(ClassId id) {
  const RevocableUnion::MemberPlace place = places_.find(id.index());
  Set& set = sets_[place.representative];
  if (set.outline.first == kNone) {
    set.outline = {.first = id.index(), .last = id.index(), .rank = id.index(), .lowest = Bytes(0)};
    set.alignments[alignment_of(id)] = 1;
    add_to_index(set, id.index(), Bytes(0));
  }
  return {place.representative, place.offset};
}

// --------------------------------------------------------------------------------------------------------- alignments

Bytes Assembly::alignment_of(ClassId id) const {
  const AliasClass& alias_class = classes_[id];
  const Bytes own = wholes_.contains(id) ? alias_class.own_alignment : alias_class.alignment;
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

/// The alignment that a member of the set requires has changed.
void Assembly::change_alignment(std::size_t set, Bytes before, Bytes after) {
  if (before == after) return;
  std::map<Bytes, std::size_t>& alignments = sets_[set].alignments;
  if (--alignments[before] == 0) alignments.erase(before);
  ++alignments[after];
}

bool Assembly::require(ClassId id, Bytes alignment) {
  const PlaceInSet at = where(id);
  if (!is_aligned(at.offset - sets_[at.set].outline.lowest, alignment)) return false;
  set_required(id, std::max(alignment, required(id).value_or(alignment)));
  return true;
}

/// The lowest byte of a storage lies at a multiple of its largest alignment, and every member must be aligned at its
/// offset from there. Within each set that holds already. Alignments are powers of two, so if the new lowest byte suits
/// the largest alignment of a set, it suits all of them.
bool Assembly::is_aligned_together(const Set& a, const Set& b, Bytes shift) const {
  const Bytes lowest = std::min(a.outline.lowest, b.outline.lowest + shift);
  const auto fits = [&](const Set& set, Bytes at) {
    return set.alignments.empty() || is_aligned(at - lowest, set.alignments.rbegin()->first);
  };
  return fits(a, a.outline.lowest) && fits(b, b.outline.lowest + shift);
}

// ---------------------------------------------------------------------------------------------------------- conflicts

void Assembly::hand_over(ClassId a, ClassId b, Bytes distance, Step step) {
  std::vector<Step>& steps = hand_overs_[a < b ? std::tuple(a, b, distance) : std::tuple(b, a, Bytes(0) - distance)];
  steps.insert(std::upper_bound(steps.begin(), steps.end(), step), step);
}

void Assembly::keep_apart(ClassId a, ByteRange of_a, ClassId b, ByteRange of_b) {
  apart_[a].push_back({of_a, b, of_b});
  apart_[b].push_back({of_b, a, of_a});
}

ByteRange Assembly::kept_apart(ClassId id, ByteRange bytes) const {
  const AliasClass& whole = input_.classes[id];
  if (counts_paddings_ && bytes.upper == whole.size) bytes.upper = align_up(whole.size, whole.alignment);
  return bytes;
}

bool Assembly::is_too_close(std::size_t set, MemberId member, Bytes offset) const {
  if (apart_.empty() || !is_class(member)) return false;
  const auto found = apart_.find(ClassId(member));
  return found != apart_.end() && std::any_of(found->second.begin(), found->second.end(), [&](const Apart& each) {
           const RevocableUnion::MemberPlace other = places_.find(each.other.index());
           const Bytes shift = other.offset - offset;
           const ByteRange theirs = kept_apart(each.other, each.theirs);
           return other.representative == set &&
                  kept_apart(ClassId(member), each.mine).overlaps({theirs.lower + shift, theirs.upper + shift});
         });
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

bool Assembly::may_meet(const RectangleIndex::Rectangle& a, const RectangleIndex::Rectangle& b) const {
  if (!is_class(a.id) || !is_class(b.id)) return streams_ > 1 && are_apart_in_time(a.id, b.id);
  const ClassId first(a.id);
  const ClassId second(b.id);
  const ByteRange common{std::max(a.bytes.lower, b.bytes.lower), std::min(a.bytes.upper, b.bytes.upper)};
  const auto from = [&](Bytes start) { return ByteRange{common.lower - start, common.upper - start}; };
  if (is_part(first, from(a.bytes.lower), second) || is_part(second, from(b.bytes.lower), first)) return true;
  const Bytes distance = b.bytes.lower - a.bytes.lower;
  const auto given = hand_overs_.find(first < second ? std::tuple(first, second, distance)
                                                     : std::tuple(second, first, Bytes(0) - distance));
  if (given == hand_overs_.end()) {
    return streams_ > 1 &&
           (comes_before(input_, lives_, first, second, {}) || comes_before(input_, lives_, second, first, {}));
  }
  if (streams_ == 1) return !overlap_except({&a.steps, 1}, {&b.steps, 1}, given->second);
  return !overlap_except(lives_[first].needed(), lives_[second].needed(), given->second);
}

/// With several streams: whether a class and a copy are never there together.
bool Assembly::are_apart_in_time(MemberId a, MemberId b) const {
  if (is_class(a) == is_class(b)) return false;
  const ClassId id(is_class(a) ? a : b);
  const Life& life = lives_[id];
  const std::vector<Interval>& copy = target(is_class(a) ? b : a)->target.lives;
  const auto all = [&](auto&& follows) {
    return std::all_of(copy.begin(), copy.end(), [&](const Interval& each) {
      const std::span<const Step> accesses = input_.accesses[id];
      return std::all_of(accesses.begin(), accesses.end(), [&](Step access) {
        return follows(access, each) || !compatible(input_.timeline, access, each.lower);
      });
    });
  };
  const auto before = [&](Step access, Interval each) { return input_.order.before(access, each.lower); };
  const auto after = [&](Step access, Interval each) { return input_.order.before(each.upper - Step(1), access); };
  return (!life.sides.after && all(before)) || (!life.sides.before && all(after));
}

/// With several streams everything counts as needed at one and the same step.
template <class F>
bool Assembly::any_entry(MemberId member, Bytes offset, F&& f) const {
  const auto id = static_cast<std::uint32_t>(member);
  if (!is_class(member) && !target(member)) return false;
  const Bytes size = is_class(member) ? classes_[ClassId(member)].size : target(member)->target.bytes.upper;
  const ByteRange bytes{offset, offset + size};
  if (streams_ > 1) return f(RectangleIndex::Rectangle{bytes, {Step(0), Step(1)}, id});
  const std::span<const Interval> needed =
      is_class(member) ? lives_[ClassId(member)].needed() : std::span<const Interval>(target(member)->target.lives);
  return std::any_of(needed.begin(), needed.end(), [&](const Interval& steps) { return f({bytes, steps, id}); });
}

void Assembly::add_to_index(Set& set, MemberId member, Bytes offset) {
  any_entry(member, offset, [&](const RectangleIndex::Rectangle& entry) {
    set.index.add(entry);
    return false;
  });
}

bool Assembly::is_current(std::size_t set, const RectangleIndex::Rectangle& entry) const {
  if (sets_[set].left == 0) return true;
  const RevocableUnion::MemberPlace place = places_.find(entry.id);
  return place.representative == set && place.offset == entry.bytes.lower;
}

/// Whether a member with its lowest byte at `offset` would share bytes with one that it must not overlap.
bool Assembly::meets(std::size_t set, MemberId member, Bytes offset) const {
  return any_entry(member, offset, [&](const RectangleIndex::Rectangle& mine) {
    return sets_[set].index.any_overlapping(mine.bytes, mine.steps, [&](const RectangleIndex::Rectangle& theirs) {
      return is_current(set, theirs) && !may_meet(mine, theirs);
    });
  });
}

/// `shift` converts offsets in `from` to offsets in `to`.
bool Assembly::collide(std::size_t to, std::size_t from, Bytes shift) const {
  const bool into = places_.count(to) >= places_.count(from);
  const std::size_t larger = into ? to : from;
  for (MemberId m = sets_[into ? from : to].outline.first; m != kNone; m = next_[m]) {
    const Bytes offset = places_.find(m).offset + (into ? shift : Bytes(0) - shift);
    if (is_too_close(larger, m, offset) || meets(larger, m, offset)) return true;
  }
  return false;
}

// -------------------------------------------------------------------------------------------------------------- joins

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

/// Bytes of one class that follow each other in the whole become one entry.
void Assembly::add_whole(const Part& part, ClassId whole) {
  std::vector<Whole>& wholes = wholes_[part.id];
  const auto before = std::find_if(wholes.begin(), wholes.end(), [&](const Whole& each) {
    return each.id == whole && each.distance == part.distance && each.bytes.upper == part.bytes.lower;
  });
  if (before != wholes.end()) {
    before->bytes.upper = part.bytes.upper;
  } else {
    wholes.push_back({whole, part.distance, part.bytes});
  }
}

bool Assembly::join_parts(std::span<const Part> parts, ClassId whole) {
  std::map<ClassId, Bytes> alignments;
  for (const Part& part : parts) {
    static_cast<void>(where(part.id));
    alignments.emplace(part.id, alignment_of(part.id));
  }
  const std::map<ClassId, std::vector<Whole>> before = wholes_;
  for (const Part& part : parts) add_whole(part, whole);
  for (const auto& [id, alignment] : alignments) change_alignment(where(id).set, alignment, alignment_of(id));
  if (join(parts.front().id, whole, parts.front().distance)) return true;
  std::map<ClassId, Bytes> relaxed;
  for (const auto& [id, alignment] : alignments) relaxed.emplace(id, alignment_of(id));
  wholes_ = before;
  for (const auto& [id, alignment] : alignments) change_alignment(where(id).set, relaxed[id], alignment);
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
  const PlaceInSet first = where(a);
  const PlaceInSet second = where(b);
  const Bytes shift = second.offset + distance - first.offset;  // converts offsets in a's set to offsets in b's
  if (first.set == second.set) return shift == Bytes(0);
  if (!is_aligned_together(sets_[second.set], sets_[first.set], shift) || collide(second.set, first.set, shift))
    return false;
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
  for (MemberId m = added.outline.first; m != kNone; m = next_[m])
    add_to_index(set, m, places_.find(m).offset + distance);
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

bool Assembly::add_copies(std::size_t set, std::vector<AlignedTarget> targets) {
  const Outline& outline = sets_[set].outline;
  Bytes lowest = outline.lowest;
  for (const AlignedTarget& each : targets) lowest = std::min(lowest, each.target.bytes.lower);
  for (const AlignedTarget& each : targets) {
    if (!is_aligned(each.target.bytes.lower - lowest, each.alignment)) return false;
  }
  const std::map<Bytes, std::size_t>& alignments = sets_[set].alignments;
  if (!alignments.empty() && !is_aligned(outline.lowest - lowest, alignments.rbegin()->first)) return false;

  const std::size_t first = places_.size();
  std::vector<Bytes> offsets;
  bool met = false;
  for (AlignedTarget& each : targets) {
    const Bytes offset = each.target.bytes.lower;
    each.target.bytes = {Bytes(0), each.target.bytes.length()};
    const MemberId member = add_member(std::move(each));
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

std::size_t Assembly::add_set(const CopyHome& home) {
  const MemberId member = add_member(std::nullopt);
  sets_[member].outline.home = home;
  return member;
}

Assembly::MemberId Assembly::add_member(std::optional<AlignedTarget> target) {
  const MemberId member = places_.add();
  next_.push_back(kNone);
  others_.push_back(std::move(target));
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

// --------------------------------------------------------------------------------------------------------------- undo

void Assembly::begin() {
  STOWAGE_CHECK(!changes_, "an assembly can be undone to one point only");
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

/// The members that leave a set stay in its index until they are more than half as many as those that remain.
void Assembly::take_back(const Change& change) {
  const std::size_t larger = places_.find(change.member).representative;
  Set& set = sets_[larger];
  const Set& added = sets_[change.member];
  for (const auto& [alignment, count] : added.alignments) {
    if ((set.alignments[alignment] -= count) == 0) set.alignments.erase(alignment);
  }
  // The list of one of the two was appended to the list of the other.
  next_[change.before.last] = kNone;
  next_[added.outline.last] = kNone;
  set.outline = change.before;
  set.left += places_.count(change.member);
  places_.part(change.member);
  const bool forgotten = change.member >= members_at_begin_;  // its id will be reused
  if (forgotten || 2 * set.left > places_.count(larger)) index_anew(larger);
}

void Assembly::lives_changed(ClassId id) { index_anew(where(id).set); }

void Assembly::index_anew(std::size_t id) {
  Set& set = sets_[id];
  set.index = {};
  set.left = 0;
  for (MemberId m = set.outline.first; m != kNone; m = next_[m]) add_to_index(set, m, places_.find(m).offset);
}

// -------------------------------------------------------------------------------------------------------------- build

Assembled Assembly::build() {
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    if (places_.find(s).representative == s && places_.count(s) > 1) order.push_back(s);
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return sets_[a].outline.rank < sets_[b].outline.rank; });
  Assembled result{
      .storages = {}, .positions = ByClass<ClassPosition>(classes_.size()), .sets = {sets_.size(), std::nullopt}};
  for (const std::size_t s : order) {
    result.sets[s] = BuiltSet{StorageId(result.storages.size()), sets_[s].outline.lowest};
    build_storage(sets_[s], result);
  }
  return result;
}

void Assembly::build_storage(const Set& set, Assembled& result) const {
  const StorageId id(result.storages.size());
  Storage storage{.classes = {},
                  .size = {},
                  .alignment = set.alignments.rbegin()->first,
                  .copy_targets = {},
                  .rigid = true,
                  .home = set.outline.home};
  for (MemberId m = set.outline.first; m != kNone; m = next_[m]) {
    const Bytes offset = places_.find(m).offset - set.outline.lowest;
    if (is_class(m)) {
      const ClassId member(m);
      result.positions[member].storage = id;
      result.positions[member].offset = offset;
      build_packing(member, result);
      storage.classes.push_back(member);
      storage.size = std::max(storage.size, offset + classes_[member].size);
    } else if (const std::optional<AlignedTarget>& copy = target(m)) {
      const ByteRange bytes{offset, offset + copy->target.bytes.upper};
      storage.size = std::max(storage.size, bytes.upper);
      storage.copy_targets.push_back({bytes, copy->target.lives, copy->target.in_whole});
    }
  }
  result.storages.push_back(std::move(storage));
}

void Assembly::build_packing(ClassId id, Assembled& result) const {
  const auto wholes = wholes_.find(id);
  if (wholes == wholes_.end()) return;
  result.positions[id].packing.is_part = true;
  for (const Whole& whole : wholes->second) result.positions[whole.id].packing.has_parts = true;
}

}  // namespace stowage::layout
