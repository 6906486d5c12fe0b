#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "layout/assembly.hpp"
#include "layout/group_layout.hpp"
#include "layout/in_place.hpp"
#include "layout/loop_layout.hpp"
#include "layout/stages.hpp"

/// Forms storages: first from the classes that must lie at fixed distances, then, op by op, from the outputs that take
/// over from an input in place. Every other class gets a separate storage.
namespace stowage::layout {
namespace {

/// Joins groups, carried values and fused inputs, before any takeover in place.
Storages join_rigidly(const StorageInput& input, Tenancy tenancy) {
  Assembly assembly(input.classes, tenancy.lives, input.order.streams());
  GroupLayout groups(input, tenancy, assembly);
  groups.run();
  std::vector<PlannedCopy> around_loops = lay_out_loops(input, tenancy.residences, assembly);
  if (input.options.batch_start == BatchStart::same) groups.align_batches();
  groups.fuse_inputs();
  Assembled assembled = assembly.build();
  GroupLayout::Copies copies = groups.take_copies(assembled.sets);
  Storages result{.tenancy = {},
                  .positions = std::move(assembled.positions),
                  .list = std::move(assembled.storages),
                  .copies = std::move(copies.into_classes),
                  .notes = groups.take_notes()};
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

/// Puts every class that is in no storage yet into one, op by op, in place where that is possible.
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
      if (moment.kind == Moment::Kind::op) place(moment.op);
    }
    for (std::size_t c = 0; c < input_.classes.size(); ++c) start(ClassId(c));
    return std::move(result_);
  }

 private:
  void place(OpId id) {
    const Op& op = input_.graph.op(id);
    if (op.no_task) return;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) start(input_.sharing.class_of(*input));
    }
    if (input_.uses_pairs()) {
      for (const Takeover& takeover : choose_takeovers(input_, result_, placed_, id)) take_over(takeover);
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

  void take_over(const Takeover& takeover) {
    const AliasClass& output = input_.classes[takeover.output];
    const ClassPosition& from = result_.positions[takeover.input];
    ClassPosition& to = result_.positions[takeover.output];
    Storage& storage = result_.list[from.storage.index()];
    to.storage = from.storage;
    to.offset = from.offset + takeover.offset;
    storage.classes.push_back(takeover.output);
    storage.size = std::max(storage.size, to.offset + output.size);
    storage.alignment = std::max(storage.alignment, output.alignment);
    placed_[takeover.output] = 1;
  }

  const StorageInput& input_;
  Storages result_;
  ByClass<char> placed_;
};

}  // namespace

Storages form_storages(const StorageInput& input, Tenancy tenancy) {
  Storages rigid;
  if (has_rigid_parts(input)) {
    rigid = join_rigidly(input, std::move(tenancy));
  } else {
    rigid.tenancy = std::move(tenancy);
    rigid.positions = ByClass<ClassPosition>(input.classes.size());
  }
  return Placing(input, std::move(rigid)).run();
}

}  // namespace stowage::layout
