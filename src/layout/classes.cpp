#include <algorithm>
#include <limits>
#include <optional>

#include "layout/stages.hpp"

namespace stowage::layout {
namespace {

/// Properties of the tensors of one class of an `OffsetUnion`.
struct Joined {
  std::size_t first = std::numeric_limits<std::size_t>::max();  ///< The lowest and highest root tensor.
  std::size_t last = 0;
  Bytes lowest = kMaxBytes;  ///< Relative to the representative.
  Bytes alignment{1};
  TensorFlags flags = {};
  bool grouped = false;  ///< One of them is an output of a padded group.
  bool packed = false;   ///< One of them is a part of a packed whole, where memory alignments do not hold.

  void add(const Joined& other, Bytes distance) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
    lowest = std::min(lowest, other.lowest + distance);
    alignment = std::max(alignment, other.alignment);
    flags |= other.flags;
    grouped = grouped || other.grouped;
    packed = packed || other.packed;
  }
};

/// Joins each output of an op with bodies with the bodies' results, if one place can serve both.
class BodyResults {
 public:
  BodyResults(const Graph& graph, OffsetUnion& joined)
      : graph_(graph), joined_(joined), known_(graph.tensors().size()) {
    for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
      const ViewOf root = graph.root(TensorId(t));
      const OffsetUnion::MemberPlace place = joined.find(root.tensor.index());
      Joined alone{root.tensor.index(), root.tensor.index(), root.offset, graph.alignment(TensorId(t))};
      alone.flags = graph.tensors()[t].flags;
      known_[place.representative].add(alone, place.offset);
    }
    for (const Op& op : graph.ops()) {
      if (!op.no_reuse) continue;
      for (const TensorId output : op.outputs) known_[place_of(output).representative].flags |= TensorFlag::no_reuse;
    }
    for (const Group& group : graph.relations().groups) {
      for (const GroupMember& member : group.members) {
        Joined& joined_class = known_[place_of(member.tensor).representative];
        joined_class.packed = joined_class.packed || group.kind == Contiguity::packed;
        joined_class.grouped =
            joined_class.grouped || (group.side == GroupSide::outputs && group.kind == Contiguity::padded);
      }
    }
  }

  /// A result of a body that cannot be at the address of its op's output, and why.
  struct Apart {
    ScopeId scope;
    BodyOutput pair;
    const char* reason;
  };

  /// Works from the innermost bodies outwards, so that the results of inner bodies are known first.
  [[nodiscard]] std::vector<Apart> run() {
    std::size_t end = graph_.tensors().size();
    for (std::size_t s = graph_.scopes().size(); s-- > 1;) {
      const Scope& scope = graph_.scopes()[s];
      if (graph_.op(scope.op).control == Control::loop) continue;
      for (std::size_t next = s + 1; next <= graph_.scopes().size(); ++next) {
        end = next < graph_.scopes().size() ? graph_.scopes()[next].first_tensor.index() : graph_.tensors().size();
        if (next == graph_.scopes().size() || !is_inside(next, s)) break;
      }
      for (const BodyOutput& pair : scope.outputs) settle(ScopeId(s), pair, end);
    }
    return std::move(apart_);
  }

 private:
  [[nodiscard]] bool is_inside(std::size_t scope, std::size_t outer) const {
    while (scope > outer) scope = graph_.scopes()[scope].parent.index();
    return scope == outer;
  }

  /// `end` is one past the last tensor of the body, including nested bodies.
  void settle(ScopeId id, const BodyOutput& pair, std::size_t end) {
    if (const char* const reason = obstacle(graph_.scope(id), pair, end)) {
      apart_.push_back({id, pair, reason});
    } else {
      join(pair);
    }
  }

  [[nodiscard]] const char* obstacle(const Scope& scope, const BodyOutput& pair, std::size_t end) {
    const OffsetUnion::MemberPlace inner = place_of(pair.inner);
    const OffsetUnion::MemberPlace outer = place_of(pair.outer);
    if (inner.representative == outer.representative)
      return "the op's output already shares memory with another result of the body";
    const Joined& inside = known_[inner.representative];
    const Joined& outside = known_[outer.representative];
    if (inside.grouped) return "an op of the body writes the result as part of a contiguous group";
    if ((inside.flags | outside.flags).has(TensorFlag::no_reuse))
      return "one of the two must not share its bytes (no_reuse)";
    if (inside.packed || outside.packed) return "one of the two is a part of a packed whole";
    if (inside.flags.any_of(kOwnAddress)) return "the result of the body has its own address";
    if (inside.first < scope.first_tensor.index() || inside.last >= end)
      return "the result of the body lies in memory from outside the body";
    const Bytes distance = (inner.offset - inside.lowest) - (outer.offset - outside.lowest);
    const bool aligned = distance >= Bytes(0) ? is_aligned(distance, outside.alignment)
                                              : is_aligned(Bytes(0) - distance, inside.alignment);
    return aligned ? nullptr : "the result of the body lies where the op's output is not aligned";
  }

  void join(const BodyOutput& pair) {
    const OffsetUnion::MemberPlace inner = place_of(pair.inner);
    const OffsetUnion::MemberPlace outer = place_of(pair.outer);
    const Joined inside = known_[inner.representative];
    const bool joined = joined_.join(inner.representative, outer.representative, outer.offset - inner.offset);
    STOWAGE_CHECK(joined, "two classes contradict each other");
    const OffsetUnion::MemberPlace now = joined_.find(inner.representative);
    known_[now.representative].add(inside, now.offset);
  }

  [[nodiscard]] OffsetUnion::MemberPlace place_of(TensorId id) {
    const ViewOf root = graph_.root(id);
    const OffsetUnion::MemberPlace place = joined_.find(root.tensor.index());
    return {place.representative, place.offset + root.offset};
  }

  const Graph& graph_;
  OffsetUnion& joined_;
  std::vector<Apart> apart_;
  std::vector<Joined> known_;  ///< By representative.
};

/// Numbers the classes by their first tensor and places every tensor relative to the representative of its class.
/// `place_of(tensor)` returns the representative (as an index) and the offset from it.
template <class PlaceOf>
void number_classes(const Graph& graph, const PlaceOf& place_of, Classes& result) {
  std::vector<std::optional<ClassId>> number(graph.tensors().size());
  result.sharing.places.reserve(graph.tensors().size());
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const OffsetUnion::MemberPlace place = place_of(TensorId(t));
    std::optional<ClassId>& id = number[place.representative];
    if (!id) id = result.list.add(AliasClass{graph.tensor(TensorId(t)).memory, {}, Bytes(1), Bytes(1)});
    result.sharing.places.push_back({*id, place.offset});
  }
}

/// Makes places relative to the lowest byte of their class, and finds the properties of each class.
void measure_classes(const Graph& graph, Classes& result) {
  ByClass<Bytes> lowest(result.list.size(), kMaxBytes);
  for (const ClassPlace& place : result.sharing.places) lowest[place.id] = std::min(lowest[place.id], place.offset);
  result.sharing.flags = ByClass<TensorFlags>(result.list.size());
  for (std::size_t t = 0; t < result.sharing.places.size(); ++t) {
    ClassPlace& place = result.sharing.places[t];
    AliasClass& alias_class = result.list[place.id];
    const Tensor& tensor = graph.tensor(TensorId(t));
    place.offset -= lowest[place.id];
    alias_class.size = std::max(alias_class.size, place.offset + tensor.size);
    alias_class.alignment = std::max(alias_class.alignment, graph.alignment(TensorId(t)));
    alias_class.own_alignment = std::max(alias_class.own_alignment, tensor.alignment.value_or(Bytes(1)));
    result.sharing.flags[place.id] |= tensor.flags;
  }
}

}  // namespace

Classes form_classes(const Graph& graph) {
  Classes result;
  if (!graph.has_bodies()) {
    const auto place_of = [&](TensorId id) {
      const AliasPlace& place = graph.relations().place(id);
      return OffsetUnion::MemberPlace{place.representative.index(), place.offset};
    };
    number_classes(graph, place_of, result);
    measure_classes(graph, result);
    return result;
  }
  OffsetUnion joined = graph.relations().to_union();
  const std::vector<BodyResults::Apart> apart = BodyResults(graph, joined).run();
  number_classes(graph, [&](TensorId id) { return joined.find(id.index()); }, result);
  measure_classes(graph, result);
  for (const BodyResults::Apart& each : apart) {
    result.copies.push_back({.scope = each.scope,
                             .before = static_cast<std::int64_t>(graph.scope(each.scope).op_count),
                             .tensor = each.pair.inner,
                             .to = result.sharing.place(each.pair.outer),
                             .reason = each.reason});
  }
  return result;
}

ByClass<int> count_writers(const Graph& graph, const Sharing& sharing) {
  ByClass<int> writers(sharing.class_count());
  for (const Op& op : graph.ops()) {
    for (const TensorId output : op.outputs) writers[sharing.class_of(output)] += op.no_task ? 0 : 1;
  }
  return writers;
}

}  // namespace stowage::layout
