#include "support/generators/op_drafter.hpp"

#include <algorithm>
#include <utility>

#include "support/generators/body_drafter.hpp"

namespace stowage::testing {

// ------------------------------------------------------------------------------------------------------------ tensors

void OpDrafter::add_given_tensors() {
  const bool root = scope_.is_root();
  if (root) {
    for (std::size_t i = 1 + dice_.below(3); i > 0; --i) add_root(input_flags());
    if (dice_.chance(20)) add_root(input_flags() | TensorFlag::output);
    if (dice_.chance(10)) add_root({TensorFlag::input, TensorFlag::no_reuse});
    if (dice_.chance(5)) add_root(TensorFlag::output);
  }
  for (std::size_t i = dice_.below(root ? 3 : 2); i > 0; --i) add_root(TensorFlag::constant);
  for (std::size_t i = dice_.below(root ? 3 : 2); i > 0; --i) add_root(TensorFlag::variable);
  if (dice_.chance(options_.externals)) add_root(TensorFlag::external);
  if (dice_.chance(20)) add_root({});
}

TensorFlags OpDrafter::input_flags() {
  TensorFlags flags = TensorFlag::input;
  if (dice_.chance(options_.zero_copy)) {
    flags |= TensorFlag::zero_copy;
    if (dice_.chance(50)) flags |= TensorFlag::reusable;
  }
  add_simple_flags(flags, TensorConstraint::Where::inputs);
  return flags;
}

void OpDrafter::add_simple_flags(TensorFlags& flags, TensorConstraint::Where where) {
  for (const TensorConstraint& each : kTensorConstraints) {
    if (each.where == where && dice_.chance(options_.*each.percent)) flags |= each.flag;
  }
}

TensorFlags OpDrafter::result_flags() {
  TensorFlags flags;
  add_simple_flags(flags, TensorConstraint::Where::results);
  if (dice_.chance(1) && options_.externals > 0) flags |= TensorFlag::external;
  if (!scope_.is_root() || flags.has(TensorFlag::external)) return flags;
  if (dice_.chance(3)) flags |= TensorFlag::input;
  if (dice_.chance(15)) {
    flags |= TensorFlag::output;
    if (dice_.chance(options_.zero_copy)) flags |= TensorFlag::zero_copy;
    if (flags.has(TensorFlag::zero_copy) && dice_.chance(50)) flags |= TensorFlag::reusable;
  }
  return flags;
}

TensorId OpDrafter::add_root(TensorFlags flags, std::optional<Bytes> size, std::optional<MemoryId> memory) {
  Tensor tensor{.name = {}, .size = size.value_or(Bytes(dice_.size())), .flags = flags};
  tensor.memory = memory.value_or(MemoryId(dice_.below(scope_.world().memories.size())));
  if (dice_.chance(options_.own_alignment)) tensor.alignment = Bytes(dice_.power_of_two(7));
  return scope_.add_root(std::move(tensor));
}

/// What an op writes anew: often like one of its inputs.
TensorId OpDrafter::add_result(const Op& op, std::optional<Bytes> size, std::optional<MemoryId> memory) {
  const TensorFlags flags = result_flags();
  for (const std::optional<TensorId>& input : op.inputs) {
    if (!size && !memory && input && dice_.chance(60))
      return add_root(flags, scope_.tensor(*input).size, scope_.tensor(*input).memory);
  }
  return add_root(flags, size, memory);
}

TensorId OpDrafter::view_of(TensorId base) {
  const std::int64_t space = scope_.size_of(base);
  const bool whole = dice_.chance(30);
  const std::int64_t offset = whole ? 0 : dice_.offset_in(space);
  const TensorId view = scope_.add_view(base, offset, whole ? space : dice_.size_in(space - offset));
  if (scope_.is_root() && dice_.chance(5) && !scope_.family(base).ring)
    scope_.tensors[view.index()].flags |= dice_.chance(20) && options_.zero_copy > 0
                                              ? TensorFlags{TensorFlag::output, TensorFlag::zero_copy}
                                              : TensorFlag::output;
  return view;
}

/// One of them, rather a late one; sometimes a view of it.
std::optional<TensorId> OpDrafter::pick(const std::vector<TensorId>& choice) {
  if (choice.empty()) return std::nullopt;
  const TensorId picked = choice[std::max(dice_.below(choice.size()), dice_.below(choice.size()))];
  return dice_.chance(10) ? view_of(picked) : picked;
}

std::optional<TensorId> OpDrafter::pick_if(const std::function<bool(TensorId)>& accept) {
  std::vector<TensorId> choice;
  for (std::size_t i = 0; i < scope_.tensors.size(); ++i) {
    if (accept(TensorId(i))) choice.push_back(TensorId(i));
  }
  return pick(choice);
}

std::optional<TensorId> OpDrafter::pick_readable(const Op& op) {
  return pick_if([&](TensorId id) { return scope_.can_read(id, op); });
}

/// Two to four different tensors of one memory for a group of the op's inputs; empty when there are not so many.
std::vector<TensorId> OpDrafter::pick_members(const Op& op) {
  const bool packed = op.contiguous_inputs == Contiguity::packed;
  const auto fits = [&](TensorId id) {
    return (packed ? scope_.can_pass_on(id, op) : scope_.can_read(id, op)) && !scope_.family(id).ring;
  };
  const std::optional<TensorId> first = pick_if(fits);
  if (!first) return {};
  std::vector<TensorId> members = {*first};
  for (std::size_t i = 1 + dice_.below(3); i > 0; --i) {
    const std::optional<TensorId> next = pick_if([&](TensorId id) {
      return fits(id) && scope_.tensor(id).memory == scope_.tensor(*first).memory &&
             std::find(members.begin(), members.end(), id) == members.end();
    });
    if (next) members.push_back(*next);
  }
  return members.size() < 2 ? std::vector<TensorId>{} : members;
}

// ---------------------------------------------------------------------------------------------------------------- ops

void OpDrafter::add_op() {
  if (dice_.chance(options_.reshapes)) return add_reshape();
  if (dice_.chance(options_.groups)) return add_group();
  if (scope_.depth() < options_.max_depth && dice_.chance(options_.bodies)) return BodyDrafter(*this).add_op();
  if (scope_.is_root() && !scope_.world().rings.empty() && dice_.chance(options_.prefetches)) return add_prefetch();
  add_task();
}

Op OpDrafter::new_op(const char* kind) {
  const WorldDraft& world = scope_.world();
  Op op{.name = {}, .kind = kind, .stream = StreamId(dice_.below(world.streams))};
  if (scope_.is_root() && !world.batches.empty() && dice_.chance(55))
    op.batch = world.batches[dice_.below(world.batches.size())];
  for (const OpConstraint& each : kOpConstraints) op.*each.field = dice_.chance(options_.*each.percent);
  return op;
}

OpId OpDrafter::commit(Op op) {
  if (dice_.chance(options_.after)) add_random_after(op);
  return scope_.commit(std::move(op));
}

/// An op without a task: its output is a view of its input, or aliased to it. What it says about order is void.
void OpDrafter::add_reshape() {
  Op op{.name = {}, .kind = "RESHAPE", .no_task = true, .stream = StreamId(dice_.below(scope_.world().streams))};
  const std::optional<TensorId> input = pick_readable(op);
  if (!input) return;
  op.inputs = {*input};
  if (dice_.chance(60) || scope_.family(*input).ring) {
    op.outputs = {view_of(*input)};
  } else {
    alias_output(op, 0);
  }
  commit(std::move(op));
}

void OpDrafter::add_task() {
  Op op = new_op("TASK");
  add_inputs(op);
  for (std::size_t i = dice_.chance(4) ? 0 : 1 + dice_.below(2); i > 0; --i) add_output(op);
  add_pairs(op);
  add_workspaces(op);
  make_idle(op);
  if (!op.no_task) add_fill(op);
  commit(std::move(op));
}

void OpDrafter::make_idle(Op& op) {
  if (options_.idle_ops > 0) op.no_task = dice_.chance(options_.idle_ops);
}

TensorId OpDrafter::add_producer(Bytes size, MemoryId memory, std::optional<TensorId> input) {
  Op op = new_op("PRODUCER");
  op.batch = {};
  add_inputs(op);
  if (input) op.inputs.insert(op.inputs.begin(), *input);
  const TensorId result = scope_.add_root({.name = {}, .size = size, .memory = memory});
  op.outputs = {result};
  if (input) op.in_place = {{0, 0}};
  add_workspaces(op);
  add_fill(op);
  commit(std::move(op));
  return result;
}

void OpDrafter::add_inputs(Op& op) {
  for (std::size_t i = dice_.below(4); i > 0; --i)
    op.inputs.push_back(dice_.chance(8) ? std::nullopt : pick_readable(op));
  if (!op.inputs.empty() && dice_.chance(8)) op.inputs.push_back(op.inputs.front());
}

void OpDrafter::add_output(Op& op) {
  const std::size_t kind = dice_.below(100);
  if (kind < 10) {
    const std::optional<TensorId> base = pick_if([&](TensorId id) { return scope_.can_write(id, op); });
    if (base) op.outputs.push_back(view_of(*base));
  } else if (kind < 16) {
    const std::optional<TensorId> variable = pick_if(
        [&](TensorId id) { return scope_.tensor(id).flags.has(TensorFlag::variable) && scope_.can_write(id, op); });
    if (variable) op.outputs.push_back(*variable);
  } else if (kind < 24 && !op.inputs.empty()) {
    const auto input = static_cast<std::uint32_t>(dice_.below(op.inputs.size()));
    if (op.inputs[input] && scope_.can_write(*op.inputs[input], op)) alias_output(op, input);
  } else {
    op.outputs.push_back(add_result(op));
  }
}

void OpDrafter::alias_output(Op& op, std::uint32_t input) {
  const TensorId base = *op.inputs[input];
  const std::int64_t offset = dice_.chance(50) ? 0 : dice_.offset_in(scope_.size_of(base));
  // Beyond the end only where nothing else says what is there.
  const FamilyDraft& family = scope_.family(base);
  const bool longer = dice_.chance(20) && !family.outer && !family.grouped && !family.shares();
  const std::int64_t room = scope_.size_of(base) - offset + (longer ? 16 : 0);
  const TensorId aliased = scope_.add_aliased(base, offset, dice_.size_in(room));
  if (!op.no_task) scope_.draft(aliased).present = 0;
  if (scope_.is_root() && dice_.chance(5)) scope_.tensors[aliased.index()].flags |= TensorFlag::output;
  op.aliases.push_back({static_cast<std::uint32_t>(op.outputs.size()), input, Bytes(offset)});
  op.outputs.push_back(aliased);
}

/// An op that may read a copy of what it writes says nothing about which element comes first.
void OpDrafter::add_pairs(Op& op) {
  const auto writes_family_of = [&](TensorId input) {
    return std::any_of(op.outputs.begin(), op.outputs.end(),
                       [&](TensorId output) { return scope_.draft(output).family == scope_.draft(input).family; });
  };
  for (std::uint32_t output = 0; output < op.outputs.size(); ++output) {
    for (std::uint32_t input = 0; input < op.inputs.size(); ++input) {
      if (!op.inputs[input] || !dice_.chance(options_.in_place)) continue;
      if (op.contiguous_inputs == Contiguity::none || !writes_family_of(*op.inputs[input]))
        op.in_place.push_back({output, input});
    }
  }
}

void OpDrafter::add_workspaces(Op& op) {
  if (!dice_.chance(options_.workspaces)) return;
  for (std::size_t i = 1 + dice_.below(2); i > 0; --i) {
    Workspace workspace{.size = Bytes(dice_.size()), .memory = MemoryId(dice_.below(scope_.world().memories.size()))};
    workspace.no_reuse = dice_.chance(5);
    if (dice_.chance(options_.own_alignment)) workspace.alignment = Bytes(dice_.power_of_two(7));
    if (dice_.chance(options_.session)) workspace.scope = WorkspaceScope::session;
    op.workspaces.push_back(workspace);
  }
}

/// Fills what the op is the first to write, and workspaces.
void OpDrafter::add_fill(Op& op) {
  if (!dice_.chance(options_.fills)) return;
  constexpr std::uint8_t kValues[] = {0, 0, 0, 0xff, 7};
  op.zero_fill.value = kValues[dice_.below(5)];
  for (std::uint32_t i = 0; i < op.outputs.size(); ++i) {
    const TensorId output = op.outputs[i];
    const bool aliased =
        std::any_of(op.aliases.begin(), op.aliases.end(), [&](const Alias& alias) { return alias.output == i; });
    const bool fresh = !aliased && !scope_.tensor(output).view_of && scope_.family(output).writers == 0 &&
                       !scope_.tensor(output).flags.any_of(kOwnAddress | TensorFlag::input);
    if (fresh && dice_.chance(70)) op.zero_fill.outputs.push_back(i);
  }
  for (std::uint32_t i = 0; i < op.workspaces.size(); ++i) {
    if (dice_.chance(50)) op.zero_fill.workspaces.push_back(i);
  }
}

void OpDrafter::add_random_after(Op& op) {
  if (!scope_.ops.empty()) op.after.push_back(OpId(dice_.below(scope_.ops.size())));
}

// ----------------------------------------------------------------------------------------------------------- prefetch

void OpDrafter::add_prefetch() {
  const RingId pool(dice_.below(scope_.world().rings.size()));
  const Ring& ring = scope_.world().rings[pool.index()];
  Op op = new_op("PREFETCH");
  op.batch = {};
  op.no_reuse = false;
  op.prefetch = pool;
  op.stream = StreamId(scope_.world().streams - 1);
  if (dice_.chance(50)) {
    const std::optional<TensorId> from =
        pick_if([&](TensorId id) { return scope_.can_read(id, op) && !scope_.family(id).ring; });
    if (from) op.inputs = {*from};
  }
  const bool two = dice_.chance(20);
  for (std::size_t i = two ? 2 : 1; i > 0; --i) {
    const std::int64_t most = ring.size.value() / (two ? 4 : 1);
    const TensorId slot = scope_.add_root({.name = {}, .size = Bytes(dice_.part(most)), .memory = ring.memory});
    scope_.family(slot).ring = true;
    scope_.family(slot).writable = false;
    op.outputs.push_back(slot);
    take_range(pool, slot);
  }
  const TensorId slot = op.outputs.back();
  commit(std::move(op));
  if (!dice_.chance(75)) return;
  Op consumer = new_op("CONSUMER");
  consumer.inputs = {slot};
  consumer.outputs = {add_result(consumer)};
  commit(std::move(consumer));
}

/// As rings are defined: the next aligned offset, or 0 where it does not fit.
void OpDrafter::take_range(RingId pool, TensorId tensor) {
  RingDraft& ring = scope_.world().ring_drafts[pool.index()];
  const std::int64_t size = scope_.size_of(tensor);
  std::int64_t first = align_up(Bytes(ring.next), scope_.memory_alignment(tensor)).value();
  if (first + size > scope_.world().rings[pool.index()].size.value()) first = 0;
  ring.next = first + size;
  for (const RingDraft::Occupant& other : ring.occupants) {
    const bool met = size > 0 && other.first < other.last && first < other.last && other.first < ring.next;
    if (met) scope_.families[other.family].evicted = true;
  }
  ring.occupants.push_back({scope_.draft(tensor).family, first, ring.next});
}

}  // namespace stowage::testing
