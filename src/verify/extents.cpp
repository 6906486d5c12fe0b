#include "verify/extents.hpp"

#include <algorithm>
#include <numeric>

#include "verify/groups.hpp"

namespace stowage::verification {
namespace {

/// The packed and padded groups of the graph with at least two members.
std::vector<Group> all_groups(const Graph& graph) {
  std::vector<Group> groups;
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (op.contiguous_inputs == Contiguity::none && op.contiguous_outputs == Contiguity::none) continue;
    for (Group& group : groups_of(graph, OpId(k))) groups.push_back(std::move(group));
  }
  return groups;
}

/// Values at distances from each other: union–find with offsets.
class Distances {
 public:
  explicit Distances(std::size_t values) : parent_(values), offset_(values), consistent_(values, 1) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }

  /// The lowest byte of `a` is `distance` bytes after that of `b`.
  void join(std::uint32_t a, std::uint32_t b, Bytes distance) {
    const Place from = find(a);
    const Place to = find(b);
    if (from.root == to.root) {
      if (from.offset != to.offset + distance) consistent_[to.root] = 0;
      return;
    }
    parent_[from.root] = to.root;
    offset_[from.root] = to.offset + distance - from.offset;
    consistent_[to.root] = consistent_[to.root] != 0 && consistent_[from.root] != 0 ? 1 : 0;
  }

  struct Place {
    std::uint32_t root;
    Bytes offset;
  };
  [[nodiscard]] Place find(std::uint32_t value) const {
    Place place{value, {}};
    while (parent_[place.root] != place.root) {
      place.offset += offset_[place.root];
      place.root = parent_[place.root];
    }
    return place;
  }
  [[nodiscard]] bool consistent(std::uint32_t root) const { return consistent_[root] != 0; }

 private:
  std::vector<std::uint32_t> parent_;
  std::vector<Bytes> offset_;  ///< In the parent.
  std::vector<char> consistent_;
};

/// Where members of groups lie in their values.
class Joining {
 public:
  Joining(const Case& input, const std::vector<Extent>& extents)
      : input_(input), extents_(extents), distances_(input.values.size()), joined_(input.values.size()) {}

  void add(const Group& group) {
    if (group.kind == Contiguity::packed && group.whole) {
      for (const Group::Member& member : group.members) join(member.tensor, *group.whole, member.offset);
    }
  }

  /// What goes into a body or comes out of one may lie all the time where something lies that shares its bytes with
  /// nothing else, if that is the other end of the pair, or part of it, or around it.
  void add_lonely_ends() {
    std::vector<char> lonely(input_.values.size());
    for (std::uint32_t value = 0; value < lonely.size(); ++value) {
      if (input_.values[ValueId(value)].flags.has(TensorFlag::no_reuse)) lonely[distances_.find(value).root] = 1;
    }
    bool joined = true;
    const auto join_if_lonely = [&](TensorId a, TensorId b) {
      const std::uint32_t first = distances_.find(number(a)).root;
      const std::uint32_t second = distances_.find(number(b)).root;
      if (first == second || (lonely[first] == 0 && lonely[second] == 0) || !join(a, b, Bytes(0))) return;
      lonely[distances_.find(first).root] = 1;
      joined = true;
    };
    while (joined) {
      joined = false;
      for (const Scope& scope : input_.graph.scopes()) {
        for (const BodyInput& pair : scope.inputs) join_if_lonely(pair.inner, pair.outer);
        for (const BodyOutput& pair : scope.outputs) join_if_lonely(pair.inner, pair.outer);
        for (const Carried& pair : scope.carried) join_if_lonely(pair.out, pair.in);
      }
    }
  }

  KinSets take() {
    KinSets result;
    result.set_of.assign(input_.values.size(), 0);
    std::vector<std::uint32_t> set_of_root(input_.values.size());
    for (std::uint32_t value = 0; value < joined_.size(); ++value) {
      if (joined_[value] == 0) continue;
      const Distances::Place place = distances_.find(value);
      std::uint32_t& set = set_of_root[place.root];
      if (set == 0) {
        result.sets.emplace_back();
        result.consistent.push_back(distances_.consistent(place.root) ? 1 : 0);
        set = static_cast<std::uint32_t>(result.sets.size());
      }
      result.set_of[value] = set;
      result.sets[set - 1].push_back({ValueId(value), set - 1, place.offset});
    }
    return result;
  }

 private:
  [[nodiscard]] std::uint32_t number(TensorId tensor) const {
    return static_cast<std::uint32_t>(input_.values.of(tensor).index());
  }
  /// Of the tensor, from the lowest byte of its value.
  [[nodiscard]] Bytes offset(TensorId tensor) const {
    return input_.values.offset(tensor) - extents_[number(tensor)].lowest;
  }

  /// Tensor `a` may lie `distance` bytes after tensor `b`. Returns false if they share no bytes then, or cannot be
  /// aligned.
  bool join(TensorId a, TensorId b, Bytes distance) {
    const std::uint32_t first = number(a);
    const std::uint32_t second = number(b);
    const Bytes size = std::min(input_.graph.tensor(a).size, input_.graph.tensor(b).size);
    if (first == second || size == Bytes(0)) return false;
    const Bytes shift = offset(b) + distance - offset(a);
    const Bytes alignment = std::min(extents_[first].alignment, extents_[second].alignment);
    if (!is_aligned(shift, alignment)) return false;
    distances_.join(first, second, shift);
    joined_[first] = joined_[second] = 1;
    return true;
  }

  const Case& input_;
  const std::vector<Extent>& extents_;
  Distances distances_;
  std::vector<char> joined_;
};

/// Values that groups and bodies tie together, as sets.
class Ties {
 public:
  explicit Ties(const Case& input) : input_(input), parent_(input.values.size()), facts_(input.values.size()) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }

  void add(const Group& group) {
    for (const Group::Member& member : group.members) join(member.tensor, group.members.front().tensor);
    if (group.whole) join(*group.whole, group.members.front().tensor);
    ++facts_[find(number(group.members.front().tensor))].groups;
  }
  void add(const Scope& scope) {
    for (const BodyInput& pair : scope.inputs) hand_over(pair.inner, pair.outer);
    for (const BodyOutput& pair : scope.outputs) hand_over(pair.inner, pair.outer);
    for (const Carried& pair : scope.carried) hand_over(pair.out, pair.in);
  }

  /// Whether something else of its set may lie in the padding of a value: not if the set is just one group, whose
  /// members are looked at one by one, or values of one size that are handed over.
  [[nodiscard]] bool is_crowded(std::uint32_t value) {
    const Facts& facts = facts_[find(value)];
    return facts.groups + (facts.handed ? 1 : 0) > 1 || facts.uneven;
  }

 private:
  struct Facts {
    int groups = 0;
    bool handed = false;
    bool uneven = false;  ///< Values of different sizes are handed over.
  };

  [[nodiscard]] std::uint32_t number(TensorId tensor) const {
    return static_cast<std::uint32_t>(input_.values.of(tensor).index());
  }
  std::uint32_t find(std::uint32_t value) {
    while (parent_[value] != value) value = parent_[value] = parent_[parent_[value]];
    return value;
  }
  void hand_over(TensorId a, TensorId b) {
    if (number(a) == number(b)) return;
    join(a, b);
    Facts& facts = facts_[find(number(a))];
    facts.handed = true;
    const Graph& graph = input_.graph;
    const auto is_view = [&](TensorId each) { return graph.tensor(each).view_of.has_value(); };
    facts.uneven = facts.uneven || is_view(a) || is_view(b) || graph.tensor(a).size != graph.tensor(b).size;
  }
  void join(TensorId a, TensorId b) {
    const std::uint32_t from = find(number(a));
    const std::uint32_t to = find(number(b));
    if (from == to) return;
    parent_[from] = to;
    facts_[to].groups += facts_[from].groups;
    facts_[to].handed = facts_[to].handed || facts_[from].handed;
    facts_[to].uneven = facts_[to].uneven || facts_[from].uneven;
  }

  const Case& input_;
  std::vector<std::uint32_t> parent_;
  std::vector<Facts> facts_;  ///< By representative.
};

/// What groups and bodies mean for the padding of values.
struct Membership {
  std::vector<char> part;   ///< By value: whether it may be a part of a packed whole.
  std::vector<char> exact;  ///< By value: whether a plan may put something into its padding, as far as it has any.
};

Membership find_membership(const Case& input, const std::vector<Group>& groups) {
  const std::size_t count = input.values.size();
  Membership result{std::vector<char>(count), std::vector<char>(count)};
  Ties ties(input);
  for (const Scope& scope : input.graph.scopes()) ties.add(scope);
  for (const Group& group : groups) {
    ties.add(group);
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      const Group::Member& member = group.members[i];
      const std::size_t value = input.values.of(member.tensor).index();
      const Tensor& tensor = input.graph.tensor(member.tensor);
      const Bytes end = member.offset + align_up(tensor.size, input.graph.alignment(member.tensor));
      const bool reached = i + 1 < group.members.size() && group.members[i + 1].offset < end;
      if (group.kind == Contiguity::packed) result.part[value] = 1;
      if (group.kind == Contiguity::packed || reached || tensor.view_of) result.exact[value] = 1;
    }
  }
  for (std::uint32_t value = 0; value < count; ++value) {
    if (ties.is_crowded(value)) result.exact[value] = 1;
  }
  return result;
}

/// A value of which a part lies in a packed whole may itself reach into the padding of the whole.
void find_reached_wholes(const Case& input, const std::vector<Group>& groups, const std::vector<Extent>& extents,
                         Membership& membership) {
  const auto extent = [&](TensorId tensor) { return extents[input.values.of(tensor).index()]; };
  for (const Group& group : groups) {
    if (group.kind != Contiguity::packed || !group.whole) continue;
    const Bytes whole = input.values.offset(*group.whole) - extent(*group.whole).lowest;
    for (const Group::Member& member : group.members) {
      const Bytes part = input.values.offset(member.tensor) - extent(member.tensor).lowest;
      const Bytes end = whole + member.offset - part + extent(member.tensor).content;
      if (end > extent(*group.whole).content) membership.exact[input.values.of(*group.whole).index()] = 1;
    }
  }
}

}  // namespace

std::vector<Extent> find_extents(const Case& input) {
  const Graph& graph = input.graph;
  const std::vector<Group> groups = all_groups(graph);
  Membership membership = find_membership(input, groups);
  std::vector<Extent> extents(input.values.size(), Extent{kMaxBytes, {}, {}, Bytes(1)});
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    Extent& extent = extents[input.values.of(TensorId(t)).index()];
    extent.lowest = std::min(extent.lowest, input.values.offset(TensorId(t)));
  }
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const std::size_t value = input.values.of(TensorId(t)).index();
    Extent& extent = extents[value];
    const Tensor& tensor = graph.tensors()[t];
    extent.content = std::max(extent.content, input.values.offset(TensorId(t)) - extent.lowest + tensor.size);
    extent.alignment = std::max(extent.alignment, membership.part[value] != 0 ? tensor.alignment.value_or(Bytes(1))
                                                                              : graph.alignment(TensorId(t)));
  }
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const std::vector<Workspace>& workspaces = graph.ops()[k].workspaces;
    for (std::size_t w = 0; w < workspaces.size(); ++w)
      extents[input.values.of(OpId(k), w).index()] = {{}, workspaces[w].size, {}, graph.alignment(workspaces[w])};
  }
  find_reached_wholes(input, groups, extents, membership);
  for (std::size_t value = 0; value < extents.size(); ++value) {
    const bool exact =
        input.padding == Padding::none || membership.exact[value] != 0 || input.values[ValueId(value)].ring;
    extents[value].size = exact ? extents[value].content : align_up(extents[value].content, extents[value].alignment);
  }
  return extents;
}

KinSets find_kin(const Case& input, const std::vector<Extent>& extents) {
  Joining joining(input, extents);
  for (const Group& group : all_groups(input.graph)) joining.add(group);
  if (input.graph.has_bodies()) joining.add_lonely_ends();
  return joining.take();
}

}  // namespace stowage::verification
