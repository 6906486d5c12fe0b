#include "layout/group_layout.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "base/interface/sort_stably.hpp"
#include "graph/interface/notes.hpp"

namespace stowage::layout {
namespace {

constexpr const char* kElsewhere = "another op needs it in a different place";
constexpr const char* kOutsideSplit = "it cannot lie inside the input of the split";
constexpr const char* kWrittenAgain = "shared bytes would be written again while they are needed";

std::int64_t local_op(const Graph& graph, OpId op) {
  return static_cast<std::int64_t>(op.index() - graph.scope(graph.scope_of(op)).first_op.index());
}

/// How many loops an op is in.
int loops_around(const Graph& graph, OpId op) {
  int loops = 0;
  for (ScopeId scope = graph.scope_of(op); scope.index() != 0; scope = graph.scope(scope).parent)
    loops += graph.op(graph.scope(scope).op).control == Control::loop ? 1 : 0;
  return loops;
}

}  // namespace

GroupLayout::GroupLayout(const StorageInput& input, Tenancy& tenancy, Assembly& assembly)
    : input_(input),
      graph_(input.graph),
      tenancy_(tenancy),
      assembly_(assembly),
      writers_(count_writers(input.graph, input.sharing)),
      derivations_(input) {}

void GroupLayout::run() {
  for (const Group& group : graph_.relations().groups) {
    if (group.side != GroupSide::outputs) continue;
    group.kind == Contiguity::packed ? lay_split(group) : lay_outputs(group);
  }
  for (const Group* const group : input_groups_by_runs())
    group->kind == Contiguity::packed ? lay_concat(*group) : lay_inputs(*group);
}

/// Those that run most often first: what comes first is copied least.
std::vector<const Group*> GroupLayout::input_groups_by_runs() const {
  std::vector<const Group*> groups;
  for (const Group& group : graph_.relations().groups) {
    if (group.side == GroupSide::inputs) groups.push_back(&group);
  }
  const auto depth = [&](const Group* group) { return loops_around(graph_, group->op); };
  sort_stably(groups, [&](const Group* a, const Group* b) { return depth(a) > depth(b); });
  return groups;
}

/// Of a member that is to be copied, its place in the order of the op's copies; the others come last.
std::size_t GroupLayout::number_of(const Group& group, const GroupMember& member) const {
  const std::span<const CopiedMember> copied = members_of(input_.copied, group.op);
  const auto found = std::find_if(copied.begin(), copied.end(),
                                  [&](const CopiedMember& each) { return each.tensor == member.tensor; });
  return found == copied.end() ? SIZE_MAX : static_cast<std::size_t>(found - copied.begin());
}

/// When a copy of the member is needed: until the op is over or, in a whole, until that is needed itself.
std::vector<Interval> GroupLayout::lives_of(const Group& group, const GroupMember& member) const {
  const std::size_t number = number_of(group, member);
  std::vector<Interval> lives;
  for (const Interval& span : input_.timeline.spans(group.op)) {
    Interval life = span;
    if (number != SIZE_MAX)
      life.lower = input_.timeline.with_copies(span).lower + Step(static_cast<std::int64_t>(number));
    if (group.kind == Contiguity::packed) life.upper = life.lower + Step(1);
    lives.push_back(life);
  }
  return lives;
}

/// Whether the class is written more than once, because a loop carries it or several bodies write it. Then it may be
/// overwritten while its parts, or the whole that it is a part of, are still needed.
bool GroupLayout::is_rewritten(const Group& group, ClassId part, ClassId whole) const {
  const ClassId made = group.side == GroupSide::inputs ? whole : part;
  const int own = graph_.op(group.op).no_task ? 0 : 1;
  const bool carried = input_.demands[part].has(Demand::carried) || input_.demands[whole].has(Demand::carried);
  return carried || writers_[made] != own;
}

Assembly::Part GroupLayout::part_of(const Group& group, const GroupMember& member) const {
  const ClassPlace part = place(member.tensor);
  return {part.id,
          {part.offset, part.offset + graph_.tensor(member.tensor).size},
          place(*group.whole).offset + member.offset - part.offset};
}

Derivation GroupLayout::derivation_of(const Group& group, const Assembly::Part& part) const {
  const ClassId whole = place(*group.whole).id;
  if (group.side == GroupSide::inputs) return {group.op, part.id, whole, part.bytes, part.distance};
  const ByteRange bytes{part.bytes.lower + part.distance, part.bytes.upper + part.distance};
  return {group.op, whole, part.id, bytes, Bytes(0) - part.distance};
}

/// Whether the graph itself puts the part where its whole requires it, through aliases. Then the two are one memory,
/// and a write to one is a write to the other.
bool GroupLayout::lies_there(const Group& group, const GroupMember& member) const {
  const Assembly::Part part = part_of(group, member);
  return part.id == place(*group.whole).id && part.distance == Bytes(0);
}

/// Puts a part where its whole requires it. If it cannot lie there, or if a write to one of the two would then destroy
/// the other, it returns the reason and changes nothing.
const char* GroupLayout::join_part(const Group& group, const GroupMember& member) {
  const Assembly::Part part = part_of(group, member);
  const Derivation derivation = derivation_of(group, part);
  if (derivations_.would_lose(derivation)) return kWrittenAgain;
  if (!assembly_.join_part(part.id, part.bytes, place(*group.whole).id, part.distance))
    return group.side == GroupSide::inputs ? kElsewhere : kOutsideSplit;
  derivations_.add(derivation);
  return nullptr;
}

/// The outputs are views of the input. An output that cannot be gets a separate place and is filled by a copy.
void GroupLayout::lay_split(const Group& group) {
  const ClassPlace whole = place(*group.whole);
  for (const GroupMember& member : group.members) {
    if (lies_there(group, member)) continue;
    const ClassPlace part = place(member.tensor);
    const bool together = residence(part.id) == residence(whole.id) && !is_rewritten(group, part.id, whole.id);
    if (together && residence(whole.id) == Residence::external) continue;
    const CopiedMember* const copied = find_copied(input_.copied, group.op, member.tensor);
    const char* const why = copied ? copied->reason.c_str() : together ? join_part(group, member) : kOutsideSplit;
    if (!why) continue;
    if (residence(part.id) == Residence::persistent) make_shared(part.id);
    copies_.into_classes.push_back({.scope = graph_.scope_of(group.op),
                                    .before = local_op(graph_, group.op),
                                    .tensor = member.tensor,
                                    .to = part,
                                    .reason = why});
  }
  laid_.push_back({&group, {whole.id, 0, whole.offset}});
}

/// A class that cannot stay in a constant or variable becomes an ordinary shared class.
void GroupLayout::make_shared(ClassId id) {
  const bool whole_run = input_.demands[id].has(Demand::whole_run);
  const Sides sides{.before = whole_run, .after = whole_run || input_.sharing.flags[id].has(TensorFlag::output)};
  tenancy_.residences[id] = Residence::shared;
  tenancy_.lives[id] = life_of(input_.timeline, input_.accesses[id], sides);
  assembly_.lives_changed(id);
}

/// Cannot fail: `Graph::build` has checked that all members can be at their offsets.
void GroupLayout::lay_outputs(const Group& group) {
  const GroupMember& first = group.members.front();
  const ClassPlace base = place(first.tensor);
  for (const GroupMember& member : group.members) {
    const ClassPlace at = place(member.tensor);
    if (residence(at.id) == Residence::external) continue;
    const Bytes alignment = padded_alignment(graph_, member.tensor);
    const bool joined = assembly_.join_aligned(at.id, base.id, base.offset + member.offset - at.offset, alignment);
    STOWAGE_CHECK(joined, "contiguous outputs cannot be contiguous");
  }
  laid_.push_back({&group, {base.id, 0, base.offset}});
}

/// Why a member cannot, or is not to, lie in a group at all.
const char* GroupLayout::obstacle(const Group& group, const GroupMember& member) const {
  const ClassPlace at = place(member.tensor);
  if (residence(at.id) != Residence::shared) return "it has its own address";
  if (group.kind == Contiguity::padded && !is_aligned(at.offset, padded_alignment(graph_, member.tensor)))
    return "it lies inside another tensor at an offset that breaks the group's alignment";
  const CopiedMember* const copied = find_copied(input_.copied, group.op, member.tensor);
  return copied ? copied->reason.c_str() : nullptr;
}

std::vector<GroupLayout::Vote> GroupLayout::vote(const Group& group) {
  std::map<std::pair<std::size_t, Bytes>, Vote> votes;
  for (const GroupMember& member : group.members) {
    if (obstacle(group, member)) continue;
    const ClassPlace at = place(member.tensor);
    const Assembly::PlaceInSet where = assembly_.where(at.id);
    const Bytes base = where.offset + at.offset - member.offset;
    Vote& vote = votes.try_emplace({where.set, base}, Vote{where.set, base, {}, {}}).first->second;
    vote.bytes += graph_.tensor(member.tensor).size;
    vote.members.push_back(&member);
  }
  std::vector<Vote> result;
  for (auto& [key, each] : votes) result.push_back(std::move(each));
  std::sort(result.begin(), result.end(), [](const Vote& a, const Vote& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.members.front()->position < b.members.front()->position;
  });
  return result;
}

/// Joins a member to the group, which begins at the base of `leader`.
bool GroupLayout::follow(const Group& group, const Vote& leader, const GroupMember& member) {
  const GroupMember& first = *leader.members.front();
  const ClassPlace base = place(first.tensor);
  const ClassPlace at = place(member.tensor);
  const Bytes distance = base.offset - first.offset + member.offset - at.offset;
  const Bytes alignment = group.kind == Contiguity::padded ? padded_alignment(graph_, member.tensor) : Bytes(1);
  return assembly_.join_aligned(at.id, base.id, distance, alignment);
}

Assembly::PlaceInSet GroupLayout::resolve(const Anchor& anchor) {
  if (!anchor.id) return {anchor.set, anchor.offset};
  const Assembly::PlaceInSet where = assembly_.where(*anchor.id);
  return {where.set, where.offset + anchor.offset};
}

bool GroupLayout::copy_members(const Group& group, const std::vector<const GroupMember*>& members, const Anchor& base) {
  const Assembly::PlaceInSet where = resolve(base);
  std::vector<AlignedTarget> targets;
  for (const GroupMember* const member : members) {
    const Bytes offset = where.offset + member->offset;
    const ByteRange bytes{offset, offset + graph_.tensor(member->tensor).size};
    targets.push_back({{bytes, lives_of(group, *member)}, padded_alignment(graph_, member->tensor)});
  }
  if (!assembly_.add_copies(where.set, std::move(targets))) return false;
  for (const GroupMember* const member : members) {
    const char* const own = obstacle(group, *member);
    anchored_.push_back({{.scope = graph_.scope_of(group.op),
                          .before = local_op(graph_, group.op),
                          .tensor = member->tensor,
                          .to = {},
                          .reason = own ? own : kElsewhere,
                          .number = number_of(group, *member)},
                         {base.id, base.set, base.offset + member->offset}});
  }
  return true;
}

/// Copies all members, because none can stay where it is.
void GroupLayout::copy_all(const Group& group) {
  const MemoryId memory = graph_.tensor(group.members.front().tensor).memory;
  const Anchor base{{}, assembly_.add_set({memory, graph_.op(group.op).fixed_address}), {}};
  std::vector<const GroupMember*> all;
  for (const GroupMember& member : group.members) all.push_back(&member);
  const bool copied = copy_members(group, all, base);
  STOWAGE_CHECK(copied, "a group does not fit in its own storage");
  laid_.push_back({&group, base});
}

void GroupLayout::lay_inputs(const Group& group) {
  const std::vector<Vote> votes = vote(group);
  if (votes.empty()) return copy_all(group);
  const Vote& leader = votes.front();
  std::vector<const GroupMember*> left;
  assembly_.begin();
  for (const GroupMember& member : group.members) {
    if (obstacle(group, member) || !follow(group, leader, member)) left.push_back(&member);
  }
  const ClassPlace first = place(leader.members.front()->tensor);
  const Anchor base{first.id, 0, first.offset - leader.members.front()->offset};
  if (!copy_members(group, left, base)) {
    assembly_.undo();
    return copy_all(group);
  }
  assembly_.keep();
  laid_.push_back({&group, base});
}

/// The output is the whole and has all the bytes. An input that cannot lie in it is copied into it, which needs no
/// extra memory.
void GroupLayout::lay_concat(const Group& group) {
  const ClassPlace whole = place(*group.whole);
  for (const Vote& vote : vote(group)) {
    if (lies_right(group, vote)) continue;
    for (const GroupMember* member : vote.members) {
      if (lies_there(group, *member)) continue;
      const ClassPlace part = place(member->tensor);
      const bool ours = residence(whole.id) == Residence::shared && !is_rewritten(group, part.id, whole.id);
      const char* const why = ours ? join_part(group, *member) : kElsewhere;
      if (why) copy_into_whole(group, *member, why);
    }
  }
  for (const GroupMember& member : group.members) {
    const char* const own = obstacle(group, member);
    if (own && !lies_there(group, member)) copy_into_whole(group, member, own);
  }
  laid_.push_back({&group, {whole.id, 0, whole.offset}});
}

/// The bytes of the whole are needed from the first copy on. At that step only those that are written need to be free;
/// later all do.
void GroupLayout::copy_into_whole(const Group& group, const GroupMember& member, const char* reason) {
  const ClassPlace whole = place(*group.whole);
  const Bytes offset = whole.offset + member.offset;
  const std::size_t number = number_of(group, member);
  copies_.into_classes.push_back({.scope = graph_.scope_of(group.op),
                                  .before = local_op(graph_, group.op),
                                  .tensor = member.tensor,
                                  .to = ClassPlace{whole.id, offset},
                                  .reason = reason,
                                  .number = number});
  if (number != 0 || residence(whole.id) != Residence::shared) return;
  const Assembly::PlaceInSet at = assembly_.where(whole.id);
  const ByteRange bytes{at.offset + offset, at.offset + offset + graph_.tensor(member.tensor).size};
  if (!assembly_.add_copies(at.set, {{{bytes, lives_of(group, member), true}, Bytes(1)}}))
    refused_.push_back(members_of(input_.copied, group.op).front());
}

/// Whether members that lie next to each other already, such as the parts of a split, can be taken as they are.
bool GroupLayout::lies_right(const Group& group, const Vote& vote) {
  const ClassPlace whole = place(*group.whole);
  if (vote.members.size() < 2 || residence(whole.id) != Residence::shared) return false;
  std::vector<Assembly::Part> parts;
  for (const GroupMember* const member : vote.members) {
    parts.push_back(part_of(group, *member));
    const bool rewritten = is_rewritten(group, parts.back().id, whole.id);
    if (rewritten || derivations_.would_lose(derivation_of(group, parts.back()))) return false;
  }
  if (!assembly_.join_parts(parts, whole.id)) return false;
  for (const Assembly::Part& part : parts) derivations_.add(derivation_of(group, part));
  return true;
}

void GroupLayout::align_batches() {
  using Kind = std::tuple<GroupSide, Contiguity, MemoryId>;
  std::map<std::pair<Kind, std::size_t>, const Laid*> first;  // by kind and number
  std::map<std::pair<Kind, std::string>, std::size_t> count;
  for (const Laid& laid : laid_) {
    const std::string& batch = graph_.op(laid.group->op).batch;
    if (batch.empty()) continue;
    const Kind kind{laid.group->side, laid.group->kind, graph_.tensor(laid.group->members.front().tensor).memory};
    const std::size_t number = count[{kind, batch}]++;
    const auto [leader, is_first] = first.try_emplace({kind, number}, &laid);
    if (is_first) continue;
    const Anchor& mine = laid.base;
    const Anchor& theirs = leader->second->base;
    const auto ours = [&](const Anchor& anchor) { return anchor.id && residence(*anchor.id) == Residence::shared; };
    if (ours(mine) && ours(theirs) && assembly_.join(*mine.id, *theirs.id, theirs.offset - mine.offset)) continue;
    notes_.push_back({laid.group->members.front().tensor, std::string(kGroupBeginsElsewhere)});
  }
}

void GroupLayout::fuse_inputs() {
  std::map<MemoryId, std::pair<ClassId, Bytes>> last;  // by memory: the first class, and where the next may begin
  for (const TensorId input : input_.fused) {
    const ClassId id = place(input).id;
    const AliasClass& alias_class = input_.classes[id];
    const Bytes footprint =
        input_.options.padding == Padding::own ? align_up(alias_class.size, alias_class.alignment) : alias_class.size;
    const auto [group, is_first] = last.try_emplace(alias_class.memory, id, footprint);
    if (is_first) continue;
    const Bytes offset = align_up(group->second.second, alias_class.alignment);
    if (!assembly_.join(id, group->second.first, offset)) continue;
    group->second.second = offset + footprint;
  }
}

GroupLayout::Copies GroupLayout::take_copies(const std::vector<std::optional<BuiltSet>>& built) {
  for (AnchoredCopy& each : anchored_) {
    const Assembly::PlaceInSet where = resolve(each.at);
    STOWAGE_CHECK(built[where.set], "a set with copies has no storage");
    each.copy.storage = built[where.set]->storage;
    each.copy.offset = where.offset - built[where.set]->lowest;
    copies_.into_storages.push_back(std::move(each.copy));
  }
  return std::move(copies_);
}

}  // namespace stowage::layout
