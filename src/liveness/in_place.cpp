#include <algorithm>
#include <optional>
#include <vector>

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

/// One way to place output class `output`: `offset` bytes into input class `input`.
struct Candidate {
  ClassId output;
  ClassId input;
  Bytes offset;
  Bytes slack;       ///< How much larger the input class is.
  std::size_t pair;  ///< Position in the op's list.
};

class Selection {
 public:
  Selection(const Graph& graph, Liveness& result) : graph_(graph), result_(result) {}

  /// The takeovers of op `k`, best match of each output first.
  std::vector<Candidate> choose(std::size_t k) {
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
  std::vector<Candidate> match();
  bool augment(ClassId output, std::vector<ClassId>& visited, std::vector<Candidate>& taken);

  const Graph& graph_;
  Liveness& result_;
  std::vector<Candidate> candidates_;
};

void Selection::consider(std::size_t k, std::size_t index) {
  const Op& op = graph_.ops()[k];
  const InPlacePair pair = op.in_place[index];
  const TensorId out = op.outputs[pair.output];
  const TensorId in = *op.inputs[pair.input];
  const ClassPlace to = result_.places[out.index()];
  const ClassPlace from = result_.places[in.index()];
  if (to.id == from.id) return;  // already one by view or alias
  const AliasClass& output = result_.classes[to.id.index()];
  const AliasClass& input = result_.classes[from.id.index()];
  if (!may_begin(k, out) || !may_end(k, from.id) || used_otherwise(op, from.id)) return;
  if (reads_shifted(op, from, graph_.tensor(out).size)) return;
  if (graph_.tensor(out).size > graph_.tensor(in).size || !fits(output, input, from.offset)) return;
  candidates_.push_back({to.id, from.id, from.offset, input.size - output.size, index});
}

/// The op is the last access of the input's class on every stream, and nobody looks at it afterwards.
bool Selection::may_end(std::size_t k, ClassId input) const {
  const AliasClass& klass = result_.classes[input.index()];
  const Step step(static_cast<std::int64_t>(k));
  if (klass.residence != Residence::shared || klass.never_over) return false;
  if (klass.life.upper != step + Step(1)) return false;
  const std::span<const Step> accesses = result_.accesses(input);
  return result_.order.streams() == 1 || std::all_of(accesses.begin(), accesses.end(), [&](Step access) {
           return access == step || result_.order.before(access, step);
         });
}

/// The op is the first to touch the output's class, which the output covers as a whole and which the op writes through nothing
/// else.
bool Selection::may_begin(std::size_t k, TensorId output) const {
  const ClassPlace place = result_.places[output.index()];
  const AliasClass& klass = result_.classes[place.id.index()];
  const std::vector<TensorId>& outputs = graph_.ops()[k].outputs;
  const auto writes =
      std::count_if(outputs.begin(), outputs.end(), [&](TensorId each) { return result_.places[each.index()].id == place.id; });
  return klass.residence == Residence::shared && !klass.whole_run && !klass.flags.has(TensorFlag::input) && writes == 1 &&
         klass.life.lower == Step(static_cast<std::int64_t>(k)) && klass.size == graph_.tensor(output).size;
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
  if (result_.order.streams() == 1) return true;
  const Storage& storage = result_.storages[input.storage.index()];
  return align_up(output.size, output.alignment) == align_up(storage.size, storage.alignment);
}

std::vector<Candidate> Selection::match() {
  // The tightest input first, so that small outputs leave large inputs to others; then the op's own order.
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return a.slack != b.slack ? a.slack < b.slack : a.pair < b.pair; });
  std::vector<ClassId> outputs;
  for (const Candidate& candidate : candidates_) {
    if (std::find(outputs.begin(), outputs.end(), candidate.output) == outputs.end()) outputs.push_back(candidate.output);
  }
  std::sort(outputs.begin(), outputs.end(), [&](ClassId a, ClassId b) {
    const Bytes size_a = result_.classes[a.index()].size;
    const Bytes size_b = result_.classes[b.index()].size;
    return size_a != size_b ? size_a > size_b : a < b;
  });
  std::vector<Candidate> taken;
  for (const ClassId output : outputs) {
    std::vector<ClassId> visited;
    augment(output, visited, taken);
  }
  return taken;
}

/// Finds an input class for `output`, moving other outputs to their alternatives where that makes room.
bool Selection::augment(ClassId output, std::vector<ClassId>& visited, std::vector<Candidate>& taken) {
  for (const Candidate& candidate : candidates_) {
    if (candidate.output != output) continue;
    if (std::find(visited.begin(), visited.end(), candidate.input) != visited.end()) continue;
    visited.push_back(candidate.input);
    const auto holder = std::find_if(taken.begin(), taken.end(), [&](const Candidate& t) { return t.input == candidate.input; });
    if (holder == taken.end()) {
      taken.push_back(candidate);
      return true;
    }
    const ClassId displaced = holder->output;
    const Candidate previous = *holder;
    taken.erase(holder);
    if (augment(displaced, visited, taken)) {
      taken.push_back(candidate);
      return true;
    }
    taken.push_back(previous);
  }
  return false;
}

void start_storage(Liveness& result, ClassId id) {
  AliasClass& klass = result.classes[id.index()];
  klass.storage = StorageId(result.storages.size());
  result.storages.push_back(Storage{{id}, klass.size, klass.alignment});
}

void take_over(Liveness& result, const Candidate& candidate) {
  AliasClass& output = result.classes[candidate.output.index()];
  const AliasClass& input = result.classes[candidate.input.index()];
  Storage& storage = result.storages[input.storage.index()];
  output.storage = input.storage;
  output.offset = input.offset + candidate.offset;
  storage.classes.push_back(candidate.output);
  storage.size = std::max(storage.size, output.offset + output.size);
  storage.alignment = std::max(storage.alignment, output.alignment);
}

}  // namespace

void form_storages(const Graph& graph, const LivenessOptions& options, Liveness& result) {
  std::vector<bool> placed(result.classes.size());
  const auto resident = [&](std::size_t id) {
    return result.classes[id].residence == Residence::shared || result.classes[id].residence == Residence::persistent;
  };
  const auto start = [&](ClassId id) {
    if (placed[id.index()] || !resident(id.index())) return;
    start_storage(result, id);
    placed[id.index()] = true;
  };
  Selection selection(graph, result);
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (op.no_task) continue;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) start(result.places[input->index()].id);
    }
    if (options.in_place && !options.no_reuse) {
      for (const Candidate& candidate : selection.choose(k)) {
        take_over(result, candidate);
        placed[candidate.output.index()] = true;
      }
    }
    for (const TensorId output : op.outputs) start(result.places[output.index()].id);
  }
  for (std::size_t id = 0; id < result.classes.size(); ++id) start(ClassId(id));
}

}  // namespace stowage::liveness
