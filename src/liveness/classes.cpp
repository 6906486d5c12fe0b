#include "liveness/classes.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "graph/interface/relations.hpp"
#include "liveness/touches.hpp"

namespace stowage::liveness {
namespace {

/// What is known about the tensors that an `OffsetUnion` joins.
struct Joined {
  std::size_t first = std::numeric_limits<std::size_t>::max();  ///< The lowest and highest root tensor.
  std::size_t last = 0;
  Bytes lowest = kMaxBytes;  ///< Relative to the representative.
  Bytes alignment{1};
  TensorFlags flags = {};
  bool grouped = false;  ///< An op writes one of them next to others.
  bool packed = false;   ///< One of them is a part of a packed whole, where alignments do not hold.

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

/// Lets the op's outputs be what its bodies write, where one place can be both.
class BodyResults {
 public:
  BodyResults(const Graph& graph, OffsetUnion& joined, Liveness& result)
      : graph_(graph), joined_(joined), result_(result), known_(graph.tensors().size()) {
    for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
      const Graph::Root root = graph.root(TensorId(t));
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
        joined_class.grouped = joined_class.grouped || (group.side == GroupSide::outputs && group.kind == Contiguity::padded);
      }
    }
  }

  /// From the inside out, so that a body's results are known when those of the body around it are looked at.
  void run() {
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
  }

 private:
  [[nodiscard]] bool is_inside(std::size_t scope, std::size_t outer) const {
    while (scope > outer) scope = graph_.scopes()[scope].parent.index();
    return scope == outer;
  }

  /// `end` is behind the last tensor of the body and what is inside it.
  void settle(ScopeId id, const BodyOutput& pair, std::size_t end) {
    const char* const reason = obstacle(graph_.scope(id), pair, end);
    if (!reason) return join(pair);
    result_.copies.push_back({.scope = id,
                              .before = static_cast<std::int64_t>(graph_.scope(id).op_count),
                              .tensor = pair.inner,
                              .to = ClassPlace{ClassId(pair.outer.index()), {}},  // by tensor, until classes have numbers
                              .reason = reason});
  }

  [[nodiscard]] const char* obstacle(const Scope& scope, const BodyOutput& pair, std::size_t end) {
    const OffsetUnion::MemberPlace inner = place_of(pair.inner);
    const OffsetUnion::MemberPlace outer = place_of(pair.outer);
    if (inner.representative == outer.representative) return "the op's output is another result of the body already";
    const Joined& inside = known_[inner.representative];
    const Joined& outside = known_[outer.representative];
    if (inside.grouped) return "an op of the body writes the result next to others";
    if ((inside.flags | outside.flags).has(TensorFlag::no_reuse)) return "one of the two shares its bytes with nothing";
    if (inside.packed || outside.packed) return "one of the two is a part of a packed whole";
    if (inside.flags.any_of(kOwnAddress)) return "the result of the body has an address of its own";
    if (inside.first < scope.first_tensor.index() || inside.last >= end)
      return "the result of the body lies in memory from outside of it";
    const Bytes distance = (inner.offset - inside.lowest) - (outer.offset - outside.lowest);
    const bool aligned =
        distance >= Bytes(0) ? is_aligned(distance, outside.alignment) : is_aligned(Bytes(0) - distance, inside.alignment);
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
    const Graph::Root root = graph_.root(id);
    const OffsetUnion::MemberPlace place = joined_.find(root.tensor.index());
    return {place.representative, place.offset + root.offset};
  }

  const Graph& graph_;
  OffsetUnion& joined_;
  Liveness& result_;
  std::vector<Joined> known_;  ///< By representative.
};

/// Numbers the classes by their first tensor and places every tensor relative to its class's representative.
void number_classes(const Graph& graph, OffsetUnion& joined, Liveness& result) {
  std::vector<std::optional<ClassId>> number(graph.tensors().size());
  result.places.reserve(graph.tensors().size());
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const Graph::Root root = graph.root(TensorId(t));
    const OffsetUnion::MemberPlace place = joined.find(root.tensor.index());
    std::optional<ClassId>& id = number[place.representative];
    if (!id) {
      id = ClassId(result.classes.size());
      AliasClass& klass = result.classes.emplace_back();
      klass.memory = graph.tensor(TensorId(t)).memory;
      klass.alignment = klass.own_alignment = Bytes(1);
    }
    result.places.push_back({*id, place.offset + root.offset});
  }
}

/// Whether a class has a value in a batch.
class Presence {
 public:
  Presence(const Graph& graph, const Liveness& result)
      : batches_(graph.batches().size()), present_(result.classes.size() * batches_) {
    for (std::size_t id = 0; id < result.classes.size() && batches_ > 0; ++id) {
      if (result.classes[id].flags.any_of(kOwnAddress | TensorFlag::input)) add(id, "", graph);
    }
    for (std::size_t k = 0; k < graph.ops().size() && batches_ > 0; ++k) {
      for (const TensorId output : graph.ops()[k].outputs)
        add(result.places[output.index()].id.index(), graph.ops()[k].batch, graph);
    }
    // What a loop carries is written by the loop itself.
    for (const Scope& scope : graph.scopes()) {
      for (const Carried& pair : scope.carried) add(result.places[pair.in.index()].id.index(), graph.op(scope.op).batch, graph);
    }
  }

  /// `batch` as in `Moment`.
  [[nodiscard]] bool operator()(std::size_t id, std::uint32_t batch) const {
    return batch == 0 || present_[id * batches_ + batch - 1];
  }

 private:
  void add(std::size_t id, const std::string& label, const Graph& graph) {
    for (std::size_t b = 0; b < batches_; ++b) {
      if (label.empty() || graph.batches()[b] == label) present_[id * batches_ + b] = true;
    }
  }

  std::size_t batches_;
  std::vector<bool> present_;  ///< Row-major, class × batch.
};

}  // namespace

void form_classes(const Graph& graph, Liveness& result) {
  OffsetUnion joined = graph.relations().to_union();
  if (graph.has_bodies()) BodyResults(graph, joined, result).run();
  number_classes(graph, joined, result);

  std::vector<Bytes> lowest(result.classes.size(), kMaxBytes);
  for (const ClassPlace& place : result.places) lowest[place.id.index()] = std::min(lowest[place.id.index()], place.offset);
  for (std::size_t t = 0; t < result.places.size(); ++t) {
    ClassPlace& place = result.places[t];
    AliasClass& klass = result.classes[place.id.index()];
    const Tensor& tensor = graph.tensor(TensorId(t));
    place.offset -= lowest[place.id.index()];
    klass.size = std::max(klass.size, place.offset + tensor.size);
    klass.alignment = std::max(klass.alignment, graph.alignment(TensorId(t)));
    klass.own_alignment = std::max(klass.own_alignment, tensor.alignment.value_or(Bytes(1)));
    klass.flags |= tensor.flags;
  }
  for (PlannedCopy& copy : result.copies) copy.to = result.places[copy.to->id.index()];
}

namespace {

/// Inputs that nobody reads in some batch's run. There they count as read by the first task: overwriting what the caller wrote is
/// only safe behind something that runs.
std::map<std::size_t, std::vector<TensorId>> unread_inputs(const Graph& graph, const Liveness& result) {
  std::map<std::size_t, std::vector<TensorId>> unread;  // by the step at which they count as read
  const std::size_t batches = graph.batches().size();
  for (std::uint32_t batch = 1; batch <= batches; ++batch) {
    std::vector<bool> read(result.classes.size());
    std::optional<std::size_t> first;
    for (std::size_t k = 0; k < result.timeline.moments.size(); ++k) {
      const Moment& moment = result.timeline.moments[k];
      if (moment.batch != 0 && moment.batch != batch) continue;
      const bool task = moment.kind != Moment::Kind::start && !graph.op(moment.op).no_task;
      if (task && !first) first = k;
      for_each_touched(graph, moment, [&](TensorId tensor, bool) { read[result.places[tensor.index()].id.index()] = true; });
    }
    for (std::size_t t = 0; t < graph.tensors().size() && first; ++t) {
      const bool input = graph.tensors()[t].flags.has(TensorFlag::input);
      if (input && !read[result.places[t].id.index()]) unread[*first].emplace_back(t);
    }
  }
  return unread;
}

}  // namespace

void collect_accesses(const Graph& graph, Liveness& result) {
  const Presence present(graph, result);
  const std::map<std::size_t, std::vector<TensorId>> unread = unread_inputs(graph, result);
  const auto visit = [&](auto&& f) {
    std::vector<std::size_t> last(result.classes.size(), result.timeline.moments.size());
    for (std::size_t k = 0; k < result.timeline.moments.size(); ++k) {
      const Moment& moment = result.timeline.moments[k];
      const auto touch = [&](TensorId tensor) {
        const std::size_t id = result.places[tensor.index()].id.index();
        if (last[id] != k && present(id, moment.batch)) f(id, k);
        last[id] = k;
      };
      for_each_touched(graph, moment, [&](TensorId tensor, bool) { touch(tensor); });
      if (const auto found = unread.find(k); found != unread.end())
        std::for_each(found->second.begin(), found->second.end(), touch);
    }
  };
  result.access_begin.assign(result.classes.size() + 1, 0);
  visit([&](std::size_t id, std::size_t) { ++result.access_begin[id + 1]; });
  for (std::size_t i = 0; i < result.classes.size(); ++i) result.access_begin[i + 1] += result.access_begin[i];
  result.access_steps.resize(result.access_begin.back());
  std::vector<std::size_t> next(result.access_begin.begin(), result.access_begin.end() - 1);
  visit([&](std::size_t id, std::size_t k) { result.access_steps[next[id]++] = Step(static_cast<std::int64_t>(k)); });
}

}  // namespace stowage::liveness
