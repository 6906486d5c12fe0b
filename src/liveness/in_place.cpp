#include "liveness/in_place.hpp"

#include <algorithm>
#include <optional>

#include "liveness/assembly.hpp"
#include "liveness/classes.hpp"

/// Which outputs overwrite which inputs.
///
/// On one stream each pair that is taken lowers the live bytes at its op by the output's size and raises them nowhere, because a
/// larger input's tail is free from the next step on. So the best for the bound is a matching of outputs to input classes, op by
/// op, of the largest total size: outputs in descending size, each with an augmenting path (outputs that can be matched together
/// form a matroid, for which this greedy order is optimal). Whether a pair is legal does not depend on pairs of other ops, except
/// that an alignment may rule out the place.
///
/// On several streams storages conflict as a whole, so that a smaller output would hold all of a larger input's bytes for all of
/// its own life. There only pairs of equal size are taken; those lower the bound as above.
namespace stowage::liveness {
namespace {

class Selection {
 public:
  Selection(const Graph& graph, const LivenessOptions& options, const Liveness& result, const std::vector<bool>& placed)
      : graph_(graph), result_(result), placed_(placed), separate_fixed_(options.base == AddressBase::refreshable) {}

  /// The takeovers of op `k`, best match of each output first.
  std::vector<Takeover> choose(std::size_t k) {
    candidates_.clear();
    for (std::size_t i = 0; i < graph_.ops()[k].in_place.size(); ++i) consider(k, i);
    if (candidates_.empty()) return {};
    return match();
  }

 private:
  void consider(std::size_t k, std::size_t index);
  [[nodiscard]] bool may_end(std::size_t k, ClassId input) const;
  [[nodiscard]] bool may_begin(std::size_t k, TensorId output) const;
  /// Op reads the class through an input without a pair, or writes into it through a view.
  [[nodiscard]] bool used_otherwise(const Op& op, ClassId input) const;
  /// Op reads bytes that the output would take, but as another element of another input.
  [[nodiscard]] bool reads_shifted(const Op& op, ClassPlace from, Bytes size) const;
  [[nodiscard]] bool fits(const AliasClass& output, const AliasClass& input, Bytes offset) const;
  /// Nobody else in the storage needs the output's bytes while it does. Plain chains see to that by themselves.
  [[nodiscard]] bool has_room(std::size_t k, const AliasClass& output, ClassId input, Bytes offset) const;
  std::vector<Takeover> match();
  bool augment(ClassId output, std::vector<ClassId>& visited, std::vector<Takeover>& taken);

  const Graph& graph_;
  const Liveness& result_;
  const std::vector<bool>& placed_;  ///< By class.
  bool separate_fixed_;              ///< What needs one address for ever lies apart.
  std::vector<Takeover> candidates_;
};

/// Whether a loop writes the class anew at a step, so that what it held before is over.
bool is_renewed_at(const Graph& graph, const Liveness& liveness, ClassId id, Step step) {
  const Moment& moment = liveness.timeline.moments[static_cast<std::size_t>(step.value())];
  if (moment.kind != Moment::Kind::body_end) return false;
  const std::vector<Carried>& carried = graph.scope(moment.scope).carried;
  return std::any_of(carried.begin(), carried.end(), [&](const Carried& pair) {
    return liveness.places[pair.in.index()].id == id && liveness.places[pair.out.index()].id != id;
  });
}

/// Op `k` is the first to touch the class on every way through it.
bool begins_at(const Liveness& liveness, ClassId id, std::size_t k) {
  const std::span<const Interval> spans = liveness.timeline.spans(OpId(k));
  if (!liveness.timeline.branches()) return liveness.classes[id.index()].life.lower == spans.front().lower;
  const std::span<const Step> accesses = liveness.accesses(id);
  return !spans.empty() && std::all_of(spans.begin(), spans.end(), [&](const Interval& span) {
    return std::none_of(accesses.begin(), accesses.end(),
                        [&](Step access) { return access < span.lower && compatible(liveness.timeline, access, span.lower); });
  });
}

/// Op `k` is the last to touch the class on every way through it.
bool ends_at(const Graph& graph, const Liveness& liveness, ClassId id, std::size_t k) {
  const std::span<const Interval> spans = liveness.timeline.spans(OpId(k));
  if (!liveness.timeline.branches()) return liveness.classes[id.index()].life.upper == spans.front().upper;
  const std::span<const Step> accesses = liveness.accesses(id);
  return !spans.empty() && std::all_of(spans.begin(), spans.end(), [&](const Interval& span) {
    const auto next = std::find_if(accesses.begin(), accesses.end(), [&](Step access) {
      return access > span.lower && compatible(liveness.timeline, span.lower, access);
    });
    return next == accesses.end() || is_renewed_at(graph, liveness, id, *next);
  });
}

void Selection::consider(std::size_t k, std::size_t index) {
  const Op& op = graph_.ops()[k];
  const InPlacePair pair = op.in_place[index];
  const TensorId out = op.outputs[pair.output];
  const TensorId in = *op.inputs[pair.input];
  const ClassPlace to = result_.places[out.index()];
  const ClassPlace from = result_.places[in.index()];
  if (to.id == from.id || placed_[to.id.index()]) return;  // already one by view or alias, or in a place of its own
  const AliasClass& output = result_.classes[to.id.index()];
  const AliasClass& input = result_.classes[from.id.index()];
  if (!may_begin(k, out) || !may_end(k, from.id) || used_otherwise(op, from.id)) return;
  if (reads_shifted(op, from, graph_.tensor(out).size)) return;
  if (graph_.tensor(out).size > graph_.tensor(in).size || !fits(output, input, from.offset)) return;
  if (!has_room(k, output, from.id, from.offset)) return;
  candidates_.push_back({to.id, from.id, from.offset, input.size - output.size, index});
}

/// The op is the last access of the input's class on every stream, and nobody looks at it afterwards.
bool Selection::may_end(std::size_t k, ClassId input) const {
  const AliasClass& klass = result_.classes[input.index()];
  if (klass.residence != Residence::shared || klass.never_over || !ends_at(graph_, result_, input, k)) return false;
  if (klass.packed || klass.has_parts) return false;  // its bytes are others' too
  if (result_.order.streams() == 1) return true;
  const std::span<const Step> accesses = result_.accesses(input);
  const std::vector<Moment>& moments = result_.timeline.moments;
  for (const Interval& span : result_.timeline.spans(OpId(k))) {
    const std::uint32_t batch = moments[static_cast<std::size_t>(span.lower.value())].batch;
    const bool last = std::all_of(accesses.begin(), accesses.end(), [&](Step access) {
      const std::uint32_t other = moments[static_cast<std::size_t>(access.value())].batch;
      const bool excluded = other != 0 && batch != 0 && other != batch;
      return excluded || access == span.lower || result_.order.before(access, span.lower);
    });
    if (!last) return false;
  }
  return true;
}

/// The op is the first to touch the output's class, which the output covers as a whole and which the op writes through nothing
/// else.
bool Selection::may_begin(std::size_t k, TensorId output) const {
  const ClassPlace place = result_.places[output.index()];
  const AliasClass& klass = result_.classes[place.id.index()];
  const std::vector<TensorId>& outputs = graph_.ops()[k].outputs;
  const auto writes =
      std::count_if(outputs.begin(), outputs.end(), [&](TensorId each) { return result_.places[each.index()].id == place.id; });
  return klass.residence == Residence::shared && !klass.from_start && !klass.filled && writes == 1 &&
         begins_at(result_, place.id, k) && klass.size == graph_.tensor(output).size;
}

bool Selection::used_otherwise(const Op& op, ClassId input) const {
  for (const TensorId output : op.outputs) {
    if (result_.places[output.index()].id == input) return true;
  }
  for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.inputs[i] || result_.places[op.inputs[i]->index()].id != input) continue;
    const bool paired = std::any_of(op.in_place.begin(), op.in_place.end(), [&](InPlacePair pair) { return pair.input == i; });
    if (!paired) return true;
  }
  return false;
}

bool Selection::reads_shifted(const Op& op, ClassPlace from, Bytes size) const {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const std::optional<TensorId>& input) {
    if (!input || result_.places[input->index()].id != from.id) return false;
    const Bytes offset = result_.places[input->index()].offset;
    const ByteRange bytes{offset, offset + graph_.tensor(*input).size};
    return offset != from.offset && bytes.overlaps({from.offset, from.offset + size});
  });
}

bool Selection::fits(const AliasClass& output, const AliasClass& input, Bytes offset) const {
  if (output.memory != input.memory || !is_aligned(input.offset + offset, output.alignment)) return false;
  if (separate_fixed_ && output.fixed != input.fixed) return false;
  if (result_.order.streams() == 1) return true;
  const Storage& storage = result_.storages[input.storage.index()];
  return align_up(output.size, output.alignment) == align_up(storage.size, storage.alignment);
}

bool Selection::has_room(std::size_t k, const AliasClass& output, ClassId input, Bytes offset) const {
  const AliasClass& from = result_.classes[input.index()];
  const Storage& storage = result_.storages[from.storage.index()];
  if (!storage.rigid && !result_.timeline.branches()) return true;
  if (result_.order.streams() > 1) return false;
  std::vector<Step> steps;
  for (const Interval& span : result_.timeline.spans(OpId(k))) steps.push_back(span.lower);
  const ByteRange bytes{from.offset + offset, from.offset + offset + output.size};
  const bool classes = std::all_of(storage.classes.begin(), storage.classes.end(), [&](ClassId id) {
    const AliasClass& other = result_.classes[id.index()];
    const std::span<const Step> allowed = id == input ? std::span<const Step>(steps) : std::span<const Step>();
    return !bytes.overlaps({other.offset, other.offset + other.size}) ||
           !overlap_beside(other.needed(), output.needed(), allowed);
  });
  return classes && std::all_of(storage.slots.begin(), storage.slots.end(), [&](const CopySlot& slot) {
           return !bytes.overlaps(slot.bytes) || !overlap_beside(slot.lives, output.needed(), {});
         });
}

std::vector<Takeover> Selection::match() {
  // The tightest input first, so that small outputs leave large inputs to others; then the op's own order.
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Takeover& a, const Takeover& b) { return a.slack != b.slack ? a.slack < b.slack : a.pair < b.pair; });
  std::vector<ClassId> outputs;
  for (const Takeover& candidate : candidates_) {
    if (std::find(outputs.begin(), outputs.end(), candidate.output) == outputs.end()) outputs.push_back(candidate.output);
  }
  std::sort(outputs.begin(), outputs.end(), [&](ClassId a, ClassId b) {
    const Bytes size_a = result_.classes[a.index()].size;
    const Bytes size_b = result_.classes[b.index()].size;
    return size_a != size_b ? size_a > size_b : a < b;
  });
  std::vector<Takeover> taken;
  for (const ClassId output : outputs) {
    std::vector<ClassId> visited;
    augment(output, visited, taken);
  }
  return taken;
}

/// Finds an input class for `output`, moving other outputs to their alternatives where that makes room.
bool Selection::augment(ClassId output, std::vector<ClassId>& visited, std::vector<Takeover>& taken) {
  for (const Takeover& candidate : candidates_) {
    if (candidate.output != output) continue;
    if (std::find(visited.begin(), visited.end(), candidate.input) != visited.end()) continue;
    visited.push_back(candidate.input);
    const auto holder = std::find_if(taken.begin(), taken.end(), [&](const Takeover& t) { return t.input == candidate.input; });
    if (holder == taken.end()) {
      taken.push_back(candidate);
      return true;
    }
    const ClassId displaced = holder->output;
    const Takeover previous = *holder;
    taken.erase(holder);
    if (augment(displaced, visited, taken)) {
      taken.push_back(candidate);
      return true;
    }
    taken.push_back(previous);
  }
  return false;
}

}  // namespace

std::vector<Takeover> choose_takeovers(const Graph& graph, const LivenessOptions& options, const Liveness& result,
                                       const std::vector<bool>& placed, OpId op) {
  return Selection(graph, options, result, placed).choose(op.index());
}

}  // namespace stowage::liveness
