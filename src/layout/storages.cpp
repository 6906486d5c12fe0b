#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "layout/assembly.hpp"
#include "layout/group_layout.hpp"
#include "layout/in_place.hpp"
#include "layout/loop_layout.hpp"
#include "layout/stages.hpp"

/// Forms storages: first from the classes that must lie at fixed distances. Every other class gets a separate storage.
/// Last come the joins between storages, which packing may use.
namespace stowage::layout {
namespace {

/// The bytes of a tensor in its class.
ByteRange bytes_of(const StorageInput& input, TensorId tensor) {
  const Bytes offset = input.place(tensor).offset;
  return {offset, offset + input.graph.tensor(tensor).size};
}

/// Joins groups, carried values and fused inputs.
Storages join_rigidly(const StorageInput& input, Tenancy tenancy) {
  Assembly assembly(input, tenancy.lives);
  for (const auto& [a, b] : input.graph.apart()) {
    const bool empty = bytes_of(input, a).empty() || bytes_of(input, b).empty();
    if (!empty && input.place(a).id != input.place(b).id)
      assembly.keep_apart(input.place(a).id, bytes_of(input, a), input.place(b).id, bytes_of(input, b));
  }
  GroupLayout groups(input, tenancy, assembly);
  groups.run();
  std::vector<PlannedCopy> around_loops = lay_out_loops(input, tenancy.residences, assembly);
  assembly.count_paddings();  // so far each join was demanded, and the padding of such neighbours ends where they begin
  if (input.options.batch_start == BatchStart::same) groups.align_batches();
  groups.fuse_inputs();
  Assembled assembled = assembly.build();
  GroupLayout::Copies copies = groups.take_copies(assembled.sets);
  Storages result{.tenancy = {},
                  .positions = std::move(assembled.positions),
                  .list = std::move(assembled.storages),
                  .joins = {},
                  .copies = std::move(copies.into_classes),
                  .notes = groups.take_notes(),
                  .refused = groups.take_refused()};
  for (std::vector<PlannedCopy>* const more : {&around_loops, &copies.into_storages})
    result.copies.insert(result.copies.end(), std::make_move_iterator(more->begin()),
                         std::make_move_iterator(more->end()));
  result.tenancy = std::move(tenancy);
  return result;
}

bool has_rigid_parts(const StorageInput& input) {
  const std::span<const Op> ops = input.graph.ops();
  return input.graph.has_bodies() || !input.fused.empty() || std::any_of(ops.begin(), ops.end(), [](const Op& op) {
           return op.contiguous_inputs != Contiguity::none || op.contiguous_outputs != Contiguity::none;
         });
}

/// Whether what is joined and what is copied is a choice: the members of groups, and what enters and leaves bodies.
bool has_alternatives(const Graph& graph) {
  const std::vector<Group>& groups = graph.relations().groups;
  return graph.has_bodies() || std::any_of(groups.begin(), groups.end(), [](const Group& group) {
           return group.side == GroupSide::inputs || group.kind == Contiguity::packed;
         });
}

/// Puts every class that is in no storage yet into a separate one, in the order in which ops access them.
class Placing {
 public:
  Placing(const StorageInput& input, Storages so_far)
      : input_(input), result_(std::move(so_far)), placed_(input.classes.size()) {
    for (const Storage& storage : result_.list) {
      for (const ClassId id : storage.classes) placed_[id] = 1;
    }
  }

  Storages run() && {
    for (const Moment& moment : input_.timeline.moments) {
      if (moment.kind == Moment::Kind::op) place(input_.graph.op(moment.op));
    }
    for (std::size_t c = 0; c < input_.classes.size(); ++c) start(ClassId(c));
    return std::move(result_);
  }

 private:
  void place(const Op& op) {
    if (op.no_task) return;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) start(input_.sharing.class_of(*input));
    }
    for (const TensorId output : op.outputs) start(input_.sharing.class_of(output));
  }

  /// Starts a new storage for the class, if it has none yet and needs one.
  void start(ClassId id) {
    if (placed_[id] != 0 || !is_resident(result_.tenancy.residences[id])) return;
    const AliasClass& alias_class = input_.classes[id];
    result_.positions[id].storage = StorageId(result_.list.size());
    result_.list.push_back(Storage{.classes = {id}, .size = alias_class.size, .alignment = alias_class.alignment});
    placed_[id] = 1;
  }

  const StorageInput& input_;
  Storages result_;
  ByClass<char> placed_;
};

/// A class that is filled at the start of the run and then used in one batch only.
struct BatchFill {
  StorageId storage;
  MemoryId memory;
  std::uint8_t value;
  std::uint32_t batch;
};

/// The batch in which all accesses to the class happen; 0 if there is none.
std::uint32_t only_batch(const StorageInput& input, ClassId id) {
  const std::span<const Step> accesses = input.accesses[id];
  if (accesses.empty()) return 0;
  const std::uint32_t batch = input.timeline.at(accesses.front()).batch;
  const bool same =
      std::all_of(accesses.begin(), accesses.end(), [&](Step step) { return input.timeline.at(step).batch == batch; });
  return same ? batch : 0;
}

std::vector<BatchFill> find_batch_fills(const StorageInput& input, const Storages& storages) {
  std::vector<BatchFill> fills;
  for (std::size_t k = 0; k < input.central_fills.size(); ++k) {
    const Op& op = input.graph.ops()[k];
    for (const std::uint32_t output : op.zero_fill.outputs) {
      const ClassId id = input.sharing.class_of(op.outputs[output]);
      if (input.central_fills[k] == 0 || storages.tenancy.residences[id] != Residence::shared) continue;
      const StorageId storage = storages.positions[id].storage;
      const Storage& home = storages.list[storage.index()];
      const bool alone = home.classes.size() == 1 && home.copy_targets.empty();
      const std::uint32_t batch = only_batch(input, id);
      const bool whole_run = input.demands[id].has(Demand::whole_run) || storages.tenancy.lives[id].sides.after;
      if (alone && batch != 0 && !whole_run)
        fills.push_back({storage, input.classes[id].memory, op.zero_fill.value, batch});
    }
  }
  return fills;
}

/// Storages that are filled with one value for different batches may lie in one place: only one of them is used in a
/// run, and until then both hold that value.
std::vector<StorageJoin> find_fill_joins(const StorageInput& input, const Storages& storages) {
  const std::vector<BatchFill> fills = find_batch_fills(input, storages);
  std::set<std::pair<StorageId, StorageId>> seen;
  std::vector<StorageJoin> joins;
  for (std::size_t y = 0; y < fills.size(); ++y) {
    for (std::size_t x = 0; x < y; ++x) {
      if (fills[x].value != fills[y].value || fills[x].batch == fills[y].batch) continue;
      const auto pair = std::minmax(fills[x].storage, fills[y].storage);
      if (fills[x].memory == fills[y].memory && seen.insert(pair).second)
        joins.push_back({pair.first, pair.second, Bytes(0)});
    }
  }
  return joins;
}

}  // namespace

Storages form_storages(const StorageInput& input, Tenancy tenancy) {
  Storages rigid;
  if (has_rigid_parts(input)) {
    rigid = join_rigidly(input, std::move(tenancy));
  } else {
    rigid.tenancy = std::move(tenancy);
    rigid.positions = ByClass<ClassPosition>(input.classes.size());
  }
  Storages result = Placing(input, std::move(rigid)).run();
  if (input.uses_pairs()) result.joins = find_joins(input, result);
  const std::vector<StorageJoin> fills = find_fill_joins(input, result);
  result.joins.insert(result.joins.end(), fills.begin(), fills.end());
  result.has_alternatives = has_alternatives(input.graph);
  return result;
}

}  // namespace stowage::layout
