#include "layout/in_place.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "graph/interface/groups.hpp"
#include "layout/assembly.hpp"
#include "layout/sequence.hpp"

/// Finds which outputs may overwrite which inputs.
///
/// 1. For every in-place pair of an op: whether the class of the output may take over from that of the input, and at
///    which steps. That is decided pair by pair; it does not depend on other pairs.
/// 2. For every place of two storages that such a pair suggests: whether everything else that would share bytes there
///    may. If so, the two storages can be joined there, as a whole.
///
/// Which joins to use is a question of packing, because a join also takes away freedom: the output must lie where the
/// input does.
namespace stowage::layout {
namespace {

/// A place of one class in another: `to` begins `offset` bytes after `from`.
using ClassPlacing = std::tuple<ClassId, ClassId, Bytes>;
/// The steps (ascending) at which `to` may take over from `from` there.
using Takeovers = std::map<ClassPlacing, std::vector<Step>>;

/// What one op does with each class, and its pairs, found once for all of them.
class OpUses {
 public:
  OpUses(const Op& op, const Sharing& sharing) : pairs_(op.in_place) {
    const auto key = [](InPlacePair pair) { return std::pair(pair.output, pair.input); };
    std::sort(pairs_.begin(), pairs_.end(), [&](InPlacePair a, InPlacePair b) { return key(a) < key(b); });
    for (const TensorId output : op.outputs) ++writes_[sharing.class_of(output)];
    for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i]) reads_[sharing.class_of(*op.inputs[i])].push_back(i);
    }
  }

  [[nodiscard]] bool has_pair(InPlacePair pair) const {
    const auto less = [](InPlacePair a, InPlacePair b) {
      return std::pair(a.output, a.input) < std::pair(b.output, b.input);
    };
    return std::binary_search(pairs_.begin(), pairs_.end(), pair, less);
  }
  /// How many outputs write the class.
  [[nodiscard]] std::size_t writes(ClassId id) const {
    const auto found = writes_.find(id);
    return found == writes_.end() ? 0 : found->second;
  }
  /// The inputs that read the class.
  [[nodiscard]] std::span<const std::uint32_t> reads(ClassId id) const {
    const auto found = reads_.find(id);
    return found == reads_.end() ? std::span<const std::uint32_t>() : found->second;
  }

 private:
  std::vector<InPlacePair> pairs_;  ///< Ascending.
  std::map<ClassId, std::size_t> writes_;
  std::map<ClassId, std::vector<std::uint32_t>> reads_;
};

/// Finds the takeovers of all ops. O(pairs log) and the accesses of the classes that they are about.
class PairFinder {
 public:
  PairFinder(const StorageInput& input, const Storages& storages) : input_(input), storages_(storages) {}

  Takeovers run() {
    for (std::size_t k = 0; k < input_.graph.ops().size(); ++k) {
      const Op& op = input_.graph.ops()[k];
      if (op.no_task || op.in_place.empty() || !input_.graph.bodies(OpId(k)).empty()) continue;
      const OpUses uses(op, input_.sharing);
      for (const InPlacePair pair : op.in_place) consider(OpId(k), pair, uses);
    }
    for (auto& [place, steps] : result_) {
      std::sort(steps.begin(), steps.end());
      steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    }
    return std::move(result_);
  }

 private:
  void consider(OpId id, InPlacePair pair, const OpUses& uses);
  [[nodiscard]] bool may_end(ClassId input) const;
  [[nodiscard]] bool may_begin(const OpUses& uses, TensorId output) const;
  /// Whether the op reads the class through an input without a pair with this output, or writes into it.
  [[nodiscard]] static bool used_otherwise(const OpUses& uses, std::uint32_t output, ClassId input);
  /// Whether the op reads bytes that the output would overwrite, but as other elements of another input.
  [[nodiscard]] bool reads_shifted(const Op& op, const OpUses& uses, ClassPlace from, Bytes size) const;
  /// Whether at the step, an access by the op, `from` is needed for the last time and `to` for the first time.
  [[nodiscard]] bool changes_over(ClassId from, ClassId to, Step step) const;
  [[nodiscard]] bool is_renewed_at(ClassId id, Step step) const;
  [[nodiscard]] bool all_accesses(ClassId id, Step step, bool before) const;

  [[nodiscard]] const Life& life(ClassId id) const { return storages_.tenancy.lives[id]; }
  [[nodiscard]] bool is_shared(ClassId id) const { return storages_.tenancy.residences[id] == Residence::shared; }

  const StorageInput& input_;
  const Storages& storages_;
  Takeovers result_;
};

void PairFinder::consider(OpId id, InPlacePair pair, const OpUses& uses) {
  const Op& op = input_.graph.op(id);
  const TensorId out = op.outputs[pair.output];
  const TensorId in = *op.inputs[pair.input];
  const ClassId to = input_.sharing.class_of(out);
  const ClassPlace from = input_.place(in);
  const Bytes size = input_.graph.tensor(out).size;
  if (to == from.id || size > input_.graph.tensor(in).size || size == Bytes(0)) return;
  if (input_.classes[to].memory != input_.classes[from.id].memory) return;
  if (find_copied(input_.copied, id, in)) return;  // the op does not read it
  if (!may_begin(uses, out) || !may_end(from.id) || used_otherwise(uses, pair.output, from.id)) return;
  if (reads_shifted(op, uses, from, size)) return;
  for (const Interval& span : input_.timeline.spans(id)) {
    if (changes_over(from.id, to, span.lower)) result_[{from.id, to, from.offset}].push_back(span.lower);
  }
}

/// Whether nobody reads the input after the run, and no other class uses its bytes.
bool PairFinder::may_end(ClassId input) const {
  const Packing packing = storages_.positions[input].packing;
  const bool alone = !packing.is_part && !packing.has_parts;
  return is_shared(input) && !life(input).sides.after && alone;
}

/// Whether nothing is in the output's class before the op, the output covers the whole class, and the op writes the
/// class through no other output.
bool PairFinder::may_begin(const OpUses& uses, TensorId output) const {
  const ClassId id = input_.sharing.class_of(output);
  return is_shared(id) && !life(id).sides.before && !input_.demands[id].has(Demand::filled) && uses.writes(id) == 1 &&
         input_.classes[id].size == input_.graph.tensor(output).size;
}

bool PairFinder::used_otherwise(const OpUses& uses, std::uint32_t output, ClassId input) {
  const std::span<const std::uint32_t> reads = uses.reads(input);
  return uses.writes(input) > 0 ||
         std::any_of(reads.begin(), reads.end(), [&](std::uint32_t i) { return !uses.has_pair({output, i}); });
}

bool PairFinder::reads_shifted(const Op& op, const OpUses& uses, ClassPlace from, Bytes size) const {
  const std::span<const std::uint32_t> reads = uses.reads(from.id);
  return std::any_of(reads.begin(), reads.end(), [&](std::uint32_t i) {
    const TensorId input = *op.inputs[i];
    const Bytes offset = input_.place(input).offset;
    const ByteRange bytes{offset, offset + input_.graph.tensor(input).size};
    return offset != from.offset && bytes.overlaps({from.offset, from.offset + size});
  });
}

bool PairFinder::changes_over(ClassId from, ClassId to, Step step) const {
  if (input_.order.streams() > 1) return all_accesses(from, step, true) && all_accesses(to, step, false);
  // A life may be divided where exclusive parts begin and end, so only the accesses say where it really ends.
  const std::span<const Step> reads = input_.accesses[from];
  const auto next = std::find_if(reads.begin(), reads.end(), [&](Step access) {
    return access > step && compatible(input_.timeline, step, access);
  });
  const std::span<const Step> writes = input_.accesses[to];
  return (next == reads.end() || is_renewed_at(from, *next)) &&
         std::none_of(writes.begin(), writes.end(),
                      [&](Step access) { return access < step && compatible(input_.timeline, access, step); });
}

/// Whether a loop overwrites the class at a step, which ends the life of its old value.
bool PairFinder::is_renewed_at(ClassId id, Step step) const {
  const Moment& moment = input_.timeline.at(step);
  if (moment.kind != Moment::Kind::body_end) return false;
  const std::vector<Carried>& carried = input_.graph.scope(moment.scope).carried;
  return std::any_of(carried.begin(), carried.end(), [&](const Carried& pair) {
    return input_.sharing.class_of(pair.in) == id && input_.sharing.class_of(pair.out) != id;
  });
}

/// With several streams: whether in every run through the step all other accesses happen before it (or after it).
bool PairFinder::all_accesses(ClassId id, Step step, bool before) const {
  const std::span<const Step> accesses = input_.accesses[id];
  return std::all_of(accesses.begin(), accesses.end(), [&](Step access) {
    if (access == step || !compatible(input_.timeline, access, step)) return true;
    return before ? input_.order.before(access, step) : input_.order.before(step, access);
  });
}

/// Says which storages may be joined where.
class JoinCheck {
 public:
  JoinCheck(const StorageInput& input, const Storages& storages, const Takeovers& takeovers)
      : input_(input), storages_(storages), takeovers_(takeovers) {}

  /// Whether nothing in storage `b`, beginning `distance` bytes after `a`, destroys anything in `a`, and vice versa.
  [[nodiscard]] bool may_join(StorageId a, StorageId b, Bytes distance) const {
    const Storage& first = storages_.list[a.index()];
    const Storage& second = storages_.list[b.index()];
    return std::all_of(first.classes.begin(), first.classes.end(),
                       [&](ClassId x) {
                         return std::all_of(second.classes.begin(), second.classes.end(),
                                            [&](ClassId y) { return may_meet(x, y, at(y) + distance - at(x)); }) &&
                                leaves_alone(x, second.copy_targets, distance - at(x));
                       }) &&
           std::all_of(second.classes.begin(), second.classes.end(),
                       [&](ClassId y) { return leaves_alone(y, first.copy_targets, Bytes(0) - distance - at(y)); });
  }

 private:
  [[nodiscard]] Bytes at(ClassId id) const { return storages_.positions[id].offset; }
  [[nodiscard]] Bytes footprint(ClassId id) const {
    const AliasClass& each = input_.classes[id];
    const bool padded = input_.options.padding == Padding::own && !storages_.positions[id].packing.is_part;
    return padded ? align_up(each.size, each.alignment) : each.size;
  }
  [[nodiscard]] std::span<const Interval> needed(ClassId id) const { return storages_.tenancy.lives[id].needed(); }

  [[nodiscard]] std::vector<Step> allowed(ClassId x, ClassId y, Bytes distance) const {
    std::vector<Step> steps;
    for (const ClassPlacing& each : {ClassPlacing{x, y, distance}, ClassPlacing{y, x, Bytes(0) - distance}}) {
      if (const auto found = takeovers_.find(each); found != takeovers_.end())
        steps.insert(steps.end(), found->second.begin(), found->second.end());
    }
    std::sort(steps.begin(), steps.end());
    return steps;
  }

  /// Whether `y` may begin `distance` bytes after `x`.
  [[nodiscard]] bool may_meet(ClassId x, ClassId y, Bytes distance) const {
    if (!ByteRange{Bytes(0), footprint(x)}.overlaps({distance, distance + footprint(y)})) return true;
    const std::vector<Step> steps = allowed(x, y, distance);
    const ByClass<Life>& lives = storages_.tenancy.lives;
    if (input_.order.streams() > 1)
      return comes_before(input_, lives, x, y, steps) || comes_before(input_, lives, y, x, steps);
    return !overlap_except(needed(x), needed(y), steps);
  }

  /// Whether the class shares no bytes with the copies; `shift` converts their offsets to offsets in the class.
  [[nodiscard]] bool leaves_alone(ClassId id, const std::vector<CopyTarget>& targets, Bytes shift) const {
    return std::none_of(targets.begin(), targets.end(), [&](const CopyTarget& target) {
      return ByteRange{Bytes(0), footprint(id)}.overlaps({target.bytes.lower + shift, target.bytes.upper + shift}) &&
             (input_.order.streams() > 1 || overlap_except(needed(id), target.lives, {}));
    });
  }

  const StorageInput& input_;
  const Storages& storages_;
  const Takeovers& takeovers_;
};

}  // namespace

std::vector<StorageJoin> find_joins(const StorageInput& input, const Storages& storages) {
  const Takeovers takeovers = PairFinder(input, storages).run();
  const JoinCheck check(input, storages, takeovers);
  std::set<std::tuple<StorageId, StorageId, Bytes>> seen;
  std::vector<StorageJoin> joins;
  for (const auto& [place, steps] : takeovers) {
    const auto& [from, to, offset] = place;
    StorageId a = storages.positions[from].storage;
    StorageId b = storages.positions[to].storage;
    Bytes distance = storages.positions[from].offset + offset - storages.positions[to].offset;
    if (b < a) {
      std::swap(a, b);
      distance = Bytes(0) - distance;
    }
    const bool is_new = a != b && seen.emplace(a, b, distance).second;
    if (is_new && check.may_join(a, b, distance)) joins.push_back({a, b, distance});
  }
  return joins;
}

}  // namespace stowage::layout
