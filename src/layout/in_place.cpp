#include "layout/in_place.hpp"

#include <algorithm>
#include <optional>

#include "layout/assembly.hpp"

/// Chooses which outputs overwrite which inputs.
///
/// With one stream, each pair that is used lowers the live bytes at its op by the output's size and raises them
/// nowhere, because the tail of a larger input is free from the next step on. So what lowers the bound most is, for
/// each op, a matching of outputs to input classes with the largest total size. It is found by taking the outputs in
/// descending size, each with an augmenting path (sets of outputs that can be matched together form a matroid, for
/// which this greedy order is optimal). Whether a pair is legal does not depend on the pairs of other ops, except that
/// an alignment may rule out the place.
///
/// With several streams, storages conflict as a whole: a smaller output would occupy all bytes of a larger input for
/// all of its own life. So only pairs of equal size are used, which lower the bound as above.
namespace stowage::layout {
namespace {

class Selection {
 public:
  Selection(const StorageInput& input, const Storages& so_far, const ByClass<char>& placed)
      : input_(input), so_far_(so_far), placed_(placed) {}

  /// The takeovers of an op: the matching with the largest total size.
  std::vector<Takeover> choose(OpId op) {
    candidates_.clear();
    for (std::size_t i = 0; i < input_.graph.op(op).in_place.size(); ++i) consider(op, i);
    if (candidates_.empty()) return {};
    return match();
  }

 private:
  void consider(OpId op, std::size_t index);
  [[nodiscard]] bool may_end(OpId op, ClassId input) const;
  [[nodiscard]] bool is_last_on_all_streams(OpId op, ClassId input) const;
  [[nodiscard]] bool may_begin(OpId op, TensorId output) const;
  /// Whether the op reads the class through an input that has no pair with this output, or writes into it through a
  /// view.
  [[nodiscard]] bool used_otherwise(const Op& op, ClassId input, std::uint32_t output) const;
  /// Whether the op reads bytes that the output would overwrite, but as other elements of another input.
  [[nodiscard]] bool reads_shifted(const Op& op, ClassPlace from, Bytes size) const;
  [[nodiscard]] bool fits(ClassId output, ClassPlace input) const;
  /// Whether nothing else in the storage needs the output's bytes while the output does. Always true for a mere
  /// in-place chain in a graph without bodies and batches.
  [[nodiscard]] bool has_room(OpId op, ClassId output, ClassPlace input) const;
  std::vector<Takeover> match();
  bool augment(ClassId output, std::vector<ClassId>& visited, std::vector<Takeover>& taken);

  [[nodiscard]] const Life& life(ClassId id) const { return so_far_.tenancy.lives[id]; }
  [[nodiscard]] bool is_shared(ClassId id) const { return so_far_.tenancy.residences[id] == Residence::shared; }
  [[nodiscard]] const Storage& storage_of(ClassId id) const {
    return so_far_.list[so_far_.positions[id].storage.index()];
  }

  const StorageInput& input_;
  const Storages& so_far_;
  const ByClass<char>& placed_;
  std::vector<Takeover> candidates_;
};

/// Whether a loop overwrites the class at a step, which ends the life of its old value.
bool is_renewed_at(const StorageInput& input, ClassId id, Step step) {
  const Moment& moment = input.timeline.at(step);
  if (moment.kind != Moment::Kind::body_end) return false;
  const std::vector<Carried>& carried = input.graph.scope(moment.scope).carried;
  return std::any_of(carried.begin(), carried.end(), [&](const Carried& pair) {
    return input.sharing.class_of(pair.in) == id && input.sharing.class_of(pair.out) != id;
  });
}

/// Whether the op is the first to access the class in every run through it.
bool begins_at(const StorageInput& input, const Life& life, ClassId id, OpId op) {
  const Timeline& timeline = input.timeline;
  const std::span<const Interval> spans = timeline.spans(op);
  if (!timeline.branches()) return life.span.lower == spans.front().lower;
  const std::span<const Step> accesses = input.accesses[id];
  return !spans.empty() && std::all_of(spans.begin(), spans.end(), [&](const Interval& span) {
    return std::none_of(accesses.begin(), accesses.end(),
                        [&](Step access) { return access < span.lower && compatible(timeline, access, span.lower); });
  });
}

/// Whether the op is the last to access the class in every run through it.
bool ends_at(const StorageInput& input, const Life& life, ClassId id, OpId op) {
  const Timeline& timeline = input.timeline;
  const std::span<const Interval> spans = timeline.spans(op);
  if (!timeline.branches()) return life.span.upper == spans.front().upper;
  const std::span<const Step> accesses = input.accesses[id];
  return !spans.empty() && std::all_of(spans.begin(), spans.end(), [&](const Interval& span) {
    const auto next = std::find_if(accesses.begin(), accesses.end(), [&](Step access) {
      return access > span.lower && compatible(timeline, span.lower, access);
    });
    return next == accesses.end() || is_renewed_at(input, id, *next);
  });
}

void Selection::consider(OpId id, std::size_t index) {
  const Op& op = input_.graph.op(id);
  const InPlacePair pair = op.in_place[index];
  const TensorId out = op.outputs[pair.output];
  const TensorId in = *op.inputs[pair.input];
  const ClassId to = input_.sharing.class_of(out);
  const ClassPlace from = input_.place(in);
  if (to == from.id || placed_[to] != 0) return;  // the same class already, or already placed
  const Bytes size = input_.graph.tensor(out).size;
  if (!may_begin(id, out) || !may_end(id, from.id) || used_otherwise(op, from.id, pair.output)) return;
  if (reads_shifted(op, from, size)) return;
  if (size > input_.graph.tensor(in).size || !fits(to, from)) return;
  if (!has_room(id, to, from)) return;
  candidates_.push_back({to, from.id, from.offset, input_.classes[from.id].size - input_.classes[to].size, index});
}

/// Whether the op is the last access to the input's class on every stream, and nobody reads it after the run.
bool Selection::may_end(OpId op, ClassId input) const {
  if (!is_shared(input) || life(input).sides.after || !ends_at(input_, life(input), input, op)) return false;
  const Packing packing = so_far_.positions[input].packing;
  if (packing.is_part || packing.has_parts) return false;  // other classes use its bytes too
  return input_.order.streams() == 1 || is_last_on_all_streams(op, input);
}

bool Selection::is_last_on_all_streams(OpId op, ClassId input) const {
  const std::span<const Step> accesses = input_.accesses[input];
  const std::span<const Interval> spans = input_.timeline.spans(op);
  return std::all_of(spans.begin(), spans.end(), [&](const Interval& span) {
    const std::uint32_t batch = input_.timeline.at(span.lower).batch;
    return std::all_of(accesses.begin(), accesses.end(), [&](Step access) {
      const std::uint32_t other = input_.timeline.at(access).batch;
      const bool excluded = other != 0 && batch != 0 && other != batch;
      return excluded || access == span.lower || input_.order.before(access, span.lower);
    });
  });
}

/// Whether the op is the first to access the output's class, the output covers the whole class, and the op writes the
/// class through no other output.
bool Selection::may_begin(OpId op, TensorId output) const {
  const ClassId id = input_.sharing.class_of(output);
  const std::vector<TensorId>& outputs = input_.graph.op(op).outputs;
  const auto writes =
      std::count_if(outputs.begin(), outputs.end(), [&](TensorId each) { return input_.sharing.class_of(each) == id; });
  return is_shared(id) && !life(id).sides.before && !input_.demands[id].has(Demand::filled) && writes == 1 &&
         begins_at(input_, life(id), id, op) && input_.classes[id].size == input_.graph.tensor(output).size;
}

bool Selection::used_otherwise(const Op& op, ClassId input, std::uint32_t output) const {
  for (const TensorId each : op.outputs) {
    if (input_.sharing.class_of(each) == input) return true;
  }
  for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.inputs[i] || input_.sharing.class_of(*op.inputs[i]) != input) continue;
    const bool paired = std::any_of(op.in_place.begin(), op.in_place.end(),
                                    [&](InPlacePair pair) { return pair == InPlacePair{output, i}; });
    if (!paired) return true;
  }
  return false;
}

bool Selection::reads_shifted(const Op& op, ClassPlace from, Bytes size) const {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const std::optional<TensorId>& input) {
    if (!input || input_.sharing.class_of(*input) != from.id) return false;
    const Bytes offset = input_.place(*input).offset;
    const ByteRange bytes{offset, offset + input_.graph.tensor(*input).size};
    return offset != from.offset && bytes.overlaps({from.offset, from.offset + size});
  });
}

bool Selection::fits(ClassId output, ClassPlace input) const {
  const AliasClass& to = input_.classes[output];
  const AliasClass& from = input_.classes[input.id];
  if (to.memory != from.memory || !is_aligned(so_far_.positions[input.id].offset + input.offset, to.alignment))
    return false;
  // With a refreshable base, tensors with a fixed address lie in another arena.
  const bool same_base = input_.demands[output].has(Demand::fixed) == input_.demands[input.id].has(Demand::fixed);
  if (input_.options.base == AddressBase::refreshable && !same_base) return false;
  if (input_.order.streams() == 1) return true;
  const Storage& storage = storage_of(input.id);
  return align_up(to.size, to.alignment) == align_up(storage.size, storage.alignment);
}

bool Selection::has_room(OpId op, ClassId output, ClassPlace input) const {
  const Storage& storage = storage_of(input.id);
  if (!storage.rigid && !input_.timeline.branches()) return true;
  if (input_.order.streams() > 1) return false;
  std::vector<Step> steps;
  for (const Interval& span : input_.timeline.spans(op)) steps.push_back(span.lower);
  const Bytes lowest = so_far_.positions[input.id].offset + input.offset;
  const auto footprint = [&](ClassId id) {
    const AliasClass& of = input_.classes[id];
    const bool exact = input_.options.padding == Padding::none || so_far_.positions[id].packing.is_part;
    return exact ? of.size : align_up(of.size, of.alignment);
  };
  const ByteRange bytes{lowest, lowest + footprint(output)};
  const std::span<const Interval> needed = life(output).needed();
  const bool classes = std::all_of(storage.classes.begin(), storage.classes.end(), [&](ClassId id) {
    const Bytes offset = so_far_.positions[id].offset;
    const std::span<const Step> allowed = id == input.id ? std::span<const Step>(steps) : std::span<const Step>();
    return !bytes.overlaps({offset, offset + footprint(id)}) || !overlap_except(life(id).needed(), needed, allowed);
  });
  return classes &&
         std::all_of(storage.copy_targets.begin(), storage.copy_targets.end(), [&](const CopyTarget& target) {
           return !bytes.overlaps(target.bytes) || !overlap_except(target.lives, needed, {});
         });
}

std::vector<Takeover> Selection::match() {
  // The tightest input first, so that small outputs leave large inputs to larger outputs; then in the op's own order.
  std::sort(candidates_.begin(), candidates_.end(), [](const Takeover& a, const Takeover& b) {
    return a.slack != b.slack ? a.slack < b.slack : a.pair < b.pair;
  });
  std::vector<ClassId> outputs;
  for (const Takeover& candidate : candidates_) {
    if (std::find(outputs.begin(), outputs.end(), candidate.output) == outputs.end())
      outputs.push_back(candidate.output);
  }
  std::sort(outputs.begin(), outputs.end(), [&](ClassId a, ClassId b) {
    const Bytes size_a = input_.classes[a].size;
    const Bytes size_b = input_.classes[b].size;
    return size_a != size_b ? size_a > size_b : a < b;
  });
  std::vector<Takeover> taken;
  for (const ClassId output : outputs) {
    std::vector<ClassId> visited;
    augment(output, visited, taken);
  }
  return taken;
}

/// Finds an input class for `output`, and moves other outputs to alternative inputs if necessary.
bool Selection::augment(ClassId output, std::vector<ClassId>& visited, std::vector<Takeover>& taken) {
  for (const Takeover& candidate : candidates_) {
    if (candidate.output != output) continue;
    if (std::find(visited.begin(), visited.end(), candidate.input) != visited.end()) continue;
    visited.push_back(candidate.input);
    const auto holder =
        std::find_if(taken.begin(), taken.end(), [&](const Takeover& t) { return t.input == candidate.input; });
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

std::vector<Takeover> choose_takeovers(const StorageInput& input, const Storages& so_far, const ByClass<char>& placed,
                                       OpId op) {
  return Selection(input, so_far, placed).choose(op);
}

}  // namespace stowage::layout
