#include "verify/links.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include "graph/interface/notes.hpp"
#include "verify/groups.hpp"

namespace stowage::verification {
namespace {

/// `inner` must lie `offset` bytes into `outer`; `link` says why.
void check_link(const Case& input, TensorId inner, TensorId outer, Bytes offset, std::string_view link,
                Findings& findings) {
  const Place* const at = input.places.valid(inner);
  const Place* const base = input.places.valid(outer);
  if (!at || !base || lies_at(*at, *base, offset)) return;
  findings.add(Rule::layout, "{} {} is not where it must be, {} bytes into {} {} ({})", describe(input.graph, inner),
               describe(input.plan, *at), offset.value(), describe(input.graph, outer), describe(input.plan, *base),
               link);
}

/// Union–find: numbers that become equal when the elements that they stand for are joined.
class Joined {
 public:
  explicit Joined(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }

  void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }
  std::vector<std::uint32_t> take() {
    for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = find(i);
    return std::move(parent_);
  }

 private:
  std::uint32_t find(std::size_t thing) {
    while (parent_[thing] != thing) {
      parent_[thing] = parent_[parent_[thing]];
      thing = parent_[thing];
    }
    return static_cast<std::uint32_t>(thing);
  }

  std::vector<std::uint32_t> parent_;
};

class LinkCheck {
 public:
  LinkCheck(const Case& input, Copies& copies, Findings& findings)
      : input_(input),
        copies_(copies),
        findings_(findings),
        demanded_(input.values.size() + copies.size()),
        tied_(input.values.size() + copies.size()),
        kin_(input.values.size()),
        part_(input.values.size()),
        persistent_part_(input.values.size()) {}

  Links run() {
    const Graph& graph = input_.graph;
    for (std::size_t k = 0; k < graph.ops().size() && !findings_.full(); ++k) {
      const Op& op = graph.ops()[k];
      if (op.contiguous_inputs == Contiguity::none && op.contiguous_outputs == Contiguity::none) continue;
      for (const Group& group : groups_of(graph, OpId(k))) check_group(group);
    }
    tie_fused_inputs();
    for (std::size_t s = 1; s < graph.scopes().size() && !findings_.full(); ++s) check_body(ScopeId(s));
    for (std::uint32_t i = 0; i < copies_.size() && !findings_.full(); ++i) {
      // A tensor without bytes may be at the destination of the copy by chance.
      if (!copies_[i].exists() || copies_[i].role != CopyRole::none || copies_[i].to.size == Bytes(0)) continue;
      findings_.add(Rule::copy, "copy {} of {} {} is needed by nothing", i, describe(graph, copies_[i].tensor),
                    describe(input_.plan, copies_[i].to));
    }
    return {std::move(packed_), demanded_.take(), tied_.take(),
            kin_.take(),        std::move(part_), std::move(persistent_part_)};
  }

 private:
  static constexpr std::uint32_t kNoCopy = 0xffffffff;

  struct Where {
    const Place* place = nullptr;  ///< The place of the tensor itself.
    std::uint32_t copy = kNoCopy;  ///< The copy before the group's op, if there is one.
  };

  using GroupKind = std::tuple<bool, Contiguity, MemoryId>;
  /// Where the first batch has its n-th group of a kind.
  struct BatchStartOf {
    OpId op;
    Place place;
    std::size_t number;  ///< In `Links`.
  };

  void check_group(const Group& group);
  /// Checks, if the options ask for it, that the group begins where those of the other batches do.
  void check_batch_start(const Group& group, const Place& base);
  void check_member(const Group& group, const Group::Member& member, const Place& base);
  void check_split_part(const Group& group, const Group::Member& member, const Place& base, const Where& where);
  void refuse_member(const Group& group, const Group::Member& member, const Place& at, const Place& base);
  void lie_rigid(const Group& group, const Group::Member& member, const Where& where);
  [[nodiscard]] Where find(const Group& group, TensorId member) const;
  /// Where the group starts; null if its first member, or its whole, has no place.
  [[nodiscard]] const Place* start_of(const Group& group);

  /// A planner may have fused zero-copy inputs of a memory into one contiguous range.
  void tie_fused_inputs();
  /// The two lie at a distance that the graph demands.
  void demand(std::size_t a, std::size_t b) {
    demanded_.join(a, b);
    tied_.join(a, b);
  }
  /// The number of the member, or of its copy, in `Links`.
  [[nodiscard]] std::size_t number(const Group& group, TensorId member, const Where& where) const {
    const bool copied = group.of_inputs && where.copy != kNoCopy;
    return copied ? input_.values.size() + where.copy : input_.values.of(member).index();
  }
  [[nodiscard]] std::size_t number_of_first(const Group& group) const {
    const TensorId first = group.whole.value_or(group.members.front().tensor);
    return number(group, first, group.whole ? Where{} : find(group, first));
  }

  void check_body(ScopeId id);
  void check_carried(ScopeId id);
  /// `from` and `to` must have the same place, or one of `copies` must copy the value.
  void check_handover(TensorId from, TensorId to, std::span<const std::uint32_t> copies, CopyRole role);

  const Case& input_;
  Copies& copies_;
  Findings& findings_;
  std::vector<Packed> packed_;
  Joined demanded_;
  Joined tied_;
  Joined kin_;
  std::vector<char> part_;
  std::vector<char> persistent_part_;
  std::map<std::pair<GroupKind, std::string>, std::size_t> groups_in_batch_;
  std::map<std::pair<GroupKind, std::size_t>, BatchStartOf> first_in_batch_;
};

LinkCheck::Where LinkCheck::find(const Group& group, TensorId member) const {
  Where where{input_.places.valid(member), kNoCopy};
  for (const std::uint32_t copy : copies_.before(group.op)) {
    if (copies_[copy].tensor == member) where.copy = copy;
  }
  return where;
}

const Place* LinkCheck::start_of(const Group& group) {
  const TensorId first = group.whole.value_or(group.members.front().tensor);
  if (!group.whole && group.of_inputs) {
    const Where where = find(group, first);
    if (where.copy != kNoCopy) return &copies_[where.copy].to;
  }
  if (input_.values[input_.values.of(first)].external() && !group.given) {
    findings_.add(Rule::group, "{} is external, so it cannot be in a contiguous group of {}",
                  describe(input_.graph, first), describe(input_.graph, group.op));
  }
  return input_.places.valid(first);
}

void LinkCheck::check_group(const Group& group) {
  const Place* const base = start_of(group);
  if (!base) return;
  check_batch_start(group, *base);
  if (group.given) return;
  if (!is_aligned(base->offset, group.alignment)) {
    findings_.add(Rule::group, "the {} of {} start {}, which is not a multiple of their largest alignment {}",
                  group.of_inputs ? "inputs" : "outputs", describe(input_.graph, group.op),
                  describe(input_.plan, *base), group.alignment.value());
  }
  for (const Group::Member& member : group.members) check_member(group, member, *base);
}

void LinkCheck::check_batch_start(const Group& group, const Place& base) {
  const std::string& batch = input_.graph.op(group.op).batch;
  if (batch.empty() || input_.options.batch_start == BatchStart::free) return;
  const TensorId member = group.members.front().tensor;
  const GroupKind kind{group.of_inputs, group.kind, input_.graph.tensor(member).memory};
  const std::size_t start = number_of_first(group);
  const std::size_t position = groups_in_batch_[{kind, batch}]++;
  const auto [first, is_first] = first_in_batch_.try_emplace({kind, position}, BatchStartOf{group.op, base, start});
  if (is_first) return;
  if (lies_at(base, first->second.place, Bytes(0))) {
    tied_.join(start, first->second.number);
    return;
  }
  const bool noted = std::any_of(input_.plan.notes.begin(), input_.plan.notes.end(), [&](const Note& note) {
    return note.tensor == member && note.reason == kGroupBeginsElsewhere;
  });
  if (noted) return;
  findings_.add(Rule::group, "the {} of {} start {}, but those of {} in another batch {}",
                group.of_inputs ? "inputs" : "outputs", describe(input_.graph, group.op), describe(input_.plan, base),
                describe(input_.graph, first->second.op), describe(input_.plan, first->second.place));
}

void LinkCheck::check_member(const Group& group, const Group::Member& member, const Place& base) {
  const Where where = find(group, member.tensor);
  const bool in_place = where.place && lies_at(*where.place, base, member.offset);
  if (!group.of_inputs && group.kind == Contiguity::packed && !in_place) {
    check_split_part(group, member, base, where);
    return;
  }
  const Place* const at = group.of_inputs && where.copy != kNoCopy ? &copies_[where.copy].to : where.place;
  if (!at) {
    if (input_.values[input_.values.of(member.tensor)].external()) {
      findings_.add(Rule::group, "{} is external, so {}, which needs it in a contiguous group, needs a copy of it",
                    describe(input_.graph, member.tensor), describe(input_.graph, group.op));
    }
    return;
  }
  if (!lies_at(*at, base, member.offset)) refuse_member(group, member, *at, base);
  if (at != where.place && !in_place) {
    const bool padded = group.kind == Contiguity::padded;
    copies_.give_role(where.copy, padded ? CopyRole::group_input : CopyRole::concat_part,
                      group.whole.value_or(member.tensor));
  }
  lie_rigid(group, member, where);
}

/// An output of a split that does not lie in the input. The op copies nothing, so a copy of the plan must fill it.
void LinkCheck::check_split_part(const Group& group, const Group::Member& member, const Place& base,
                                 const Where& where) {
  if (!where.place) return;
  if (where.copy != kNoCopy && lies_at(copies_[where.copy].to, *where.place, Bytes(0))) {
    copies_.give_role(where.copy, CopyRole::split_part, member.tensor);
    return;
  }
  refuse_member(group, member, *where.place, base);
}

void LinkCheck::refuse_member(const Group& group, const Group::Member& member, const Place& at, const Place& base) {
  findings_.add(Rule::group, "{} {} is not {} bytes after the start of the {} {} of {} {}",
                describe(input_.graph, member.tensor), describe(input_.plan, at), member.offset.value(),
                group.kind == Contiguity::padded ? "padded" : "packed", group.of_inputs ? "inputs" : "outputs",
                describe(input_.graph, group.op), describe(input_.plan, base));
}

/// The member, or its copy, lies at a fixed distance from the group's first member, or from the
/// whole that it is a part of.
void LinkCheck::lie_rigid(const Group& group, const Group::Member& member, const Where& where) {
  demand(number(group, member.tensor, where), number_of_first(group));
  if (!group.whole || (group.of_inputs && where.copy != kNoCopy)) return;
  const ValueId part = input_.values.of(member.tensor);
  const ValueId whole = input_.values.of(*group.whole);
  const std::optional<ByteRange> bytes = range_at(where.place->offset, input_.graph.tensor(member.tensor).size);
  if (part == whole || !bytes) return;
  kin_.join(part.index(), whole.index());
  part_[part.index()] = 1;
  // The parts of a split are views of its input. The parts of a concat are copied if they have their own address.
  const bool for_ever = input_.values[whole].persistent() || persistent_part_[whole.index()] != 0;
  if (!group.of_inputs && for_ever) persistent_part_[part.index()] = 1;
  packed_.push_back(
      {group.op, group.of_inputs ? part : whole, group.of_inputs ? whole : part, *where.place->cell, *bytes});
}

void LinkCheck::tie_fused_inputs() {
  std::map<MemoryId, std::size_t> first;
  for (std::size_t t = 0; t < input_.graph.tensors().size(); ++t) {
    const Tensor& tensor = input_.graph.tensors()[t];
    if (!tensor.flags.has(TensorFlag::zero_copy) || !tensor.flags.has(TensorFlag::input)) continue;
    const std::size_t value = input_.values.of(TensorId(t)).index();
    if (input_.places.valid(TensorId(t))) tied_.join(value, first.try_emplace(tensor.memory, value).first->second);
  }
}

void LinkCheck::check_body(ScopeId id) {
  const Graph& graph = input_.graph;
  const Scope& scope = graph.scope(id);
  for (const BodyInput& pair : scope.inputs) {
    if (!is_carried(scope, pair.inner))
      check_link(input_, pair.inner, pair.outer, Bytes(0), "an input of its body", findings_);
  }
  if (graph.op(scope.op).control == Control::loop) {
    check_carried(id);
    return;
  }
  for (const BodyOutput& pair : scope.outputs)
    check_handover(pair.inner, pair.outer, copies_.at_end(id), CopyRole::body_end);
}

void LinkCheck::check_carried(ScopeId id) {
  const Graph& graph = input_.graph;
  const Scope& scope = graph.scope(id);
  for (const BodyInput& pair : scope.inputs) {
    if (is_carried(scope, pair.inner))
      check_handover(pair.outer, pair.inner, copies_.before(scope.op), CopyRole::carried_in);
  }
  for (const Carried& pair : scope.carried)
    check_handover(pair.out, pair.in, copies_.at_back_edge(id), CopyRole::back_edge);
  for (const BodyOutput& pair : scope.outputs) {
    const auto carried =
        std::find_if(scope.carried.begin(), scope.carried.end(), [&](Carried each) { return each.out == pair.inner; });
    const TensorId incoming = carried == scope.carried.end() ? pair.inner : carried->in;
    check_link(input_, incoming, pair.outer, Bytes(0), "the result of its loop", findings_);
  }
}

void LinkCheck::check_handover(TensorId from, TensorId to, std::span<const std::uint32_t> copies, CopyRole role) {
  const Place* const source = input_.places.valid(from);
  const Place* const target = input_.places.valid(to);
  if (input_.values.of(from) == input_.values.of(to) || !target) return;
  if (source && lies_at(*source, *target, Bytes(0))) {
    kin_.join(input_.values.of(from).index(), input_.values.of(to).index());
    demand(input_.values.of(from).index(), input_.values.of(to).index());
    return;
  }
  for (const std::uint32_t copy : copies) {
    const bool fits = copies_[copy].tensor == from && lies_at(copies_[copy].to, *target, Bytes(0));
    if (!fits || copies_[copy].role != CopyRole::none) continue;
    copies_.give_role(copy, role, to);
    return;
  }
  findings_.add(Rule::copy, "{}{} does not lie where {} does, {}, and nothing copies it there",
                describe(input_.graph, from), source ? " " + describe(input_.plan, *source) : "",
                describe(input_.graph, to), describe(input_.plan, *target));
}

}  // namespace

Links check_links(const Case& input, Copies& copies, Findings& findings) {
  return LinkCheck(input, copies, findings).run();
}

void check_layout(const Case& input, Findings& findings) {
  for (std::size_t t = 0; t < input.graph.tensors().size() && !findings.full(); ++t) {
    if (!input.graph.tensors()[t].view_of) continue;
    const ViewOf root = input.graph.root(TensorId(t));
    check_link(input, TensorId(t), root.tensor, root.offset, "a view", findings);
  }
  for (const Op& op : input.graph.ops()) {
    if (findings.full()) return;
    for (const Alias& alias : op.aliases) {
      check_link(input, op.outputs[alias.output], *op.inputs[alias.input], alias.offset, "an alias", findings);
    }
  }
}

}  // namespace stowage::verification
