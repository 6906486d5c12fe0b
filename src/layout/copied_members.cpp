#include <algorithm>
#include <utility>

#include "graph/interface/relations.hpp"
#include "layout/stages.hpp"

namespace stowage {
namespace {

bool may_be_copied(const Sharing& sharing, const Group& group, const GroupMember& member) {
  if (group.kind == Contiguity::padded) return group.side == GroupSide::inputs;
  const ClassPlace whole = sharing.place(*group.whole);
  const ClassPlace part = sharing.place(member.tensor);
  return part.id != whole.id || part.offset != whole.offset + member.offset;
}

}  // namespace

CopiedMembers copyable_members(const Graph& graph, const Sharing& sharing) {
  CopiedMembers members;
  for (const Group& group : graph.relations().groups) {
    for (const GroupMember& member : group.members) {
      if (may_be_copied(sharing, group, member)) members.push_back({group.op, member.tensor, {}});
    }
  }
  std::sort(members.begin(), members.end(), [](const CopiedMember& a, const CopiedMember& b) {
    return std::pair(a.op, a.tensor) < std::pair(b.op, b.tensor);
  });
  return members;
}

CopiedMembers layout::find_copyable(const Graph& graph, const Sharing& sharing, const CopiedMembers& wanted) {
  if (wanted.empty()) return {};
  const CopiedMembers all = copyable_members(graph, sharing);
  CopiedMembers found = wanted;
  std::erase_if(found, [&](const CopiedMember& each) { return !find_copied(all, each.op, each.tensor); });
  return found;
}

}  // namespace stowage
