#include <algorithm>
#include <utility>

#include "support/generators/op_drafter.hpp"

/// Ops with contiguous inputs and outputs.
namespace stowage::testing {

void OpDrafter::add_group() {
  switch (dice_.below(8)) {
    case 0:
    case 1:
      return add_padded_inputs();
    case 2:
      return add_padded_outputs();
    case 3:
      return add_collective();
    case 4:
      return dice_.chance(50) ? add_refs() : add_concat();
    case 5:
    case 6:
      return add_concat();
    default:
      return add_split();
  }
}

void OpDrafter::add_padded_inputs() {
  Op op = new_op("GATHER");
  op.contiguous_inputs = Contiguity::padded;
  for (const TensorId member : pick_members(op)) op.inputs.emplace_back(member);
  if (op.inputs.empty()) return;
  if (dice_.chance(10)) op.inputs.insert(op.inputs.begin() + 1, std::nullopt);
  for (std::size_t i = 1 + dice_.below(2); i > 0; --i) add_output(op);
  add_pairs(op);
  add_workspaces(op);
  add_fill(op);
  commit(std::move(op));
}

void OpDrafter::commit_group(Op op) {
  for (const TensorId output : op.outputs) scope_.family(output).grouped = true;
  commit(std::move(op));
}

void OpDrafter::add_padded_outputs() {
  Op op = new_op("SCATTER");
  op.contiguous_outputs = Contiguity::padded;
  add_inputs(op);
  const MemoryId memory(dice_.below(scope_.world().memories.size()));
  for (std::size_t i = 2 + dice_.below(3); i > 0; --i) {
    const TensorFlags flags = result_flags();
    op.outputs.push_back(add_root(flags.has(TensorFlag::external) ? TensorFlags{} : flags, std::nullopt, memory));
  }
  add_pairs(op);
  add_workspaces(op);
  add_fill(op);
  commit_group(std::move(op));
}

/// Contiguous inputs become contiguous outputs of the same sizes.
void OpDrafter::add_collective() {
  Op op = new_op("ALL_REDUCE");
  op.contiguous_inputs = op.contiguous_outputs = Contiguity::padded;
  if (dice_.chance(50) && reduce_group(op)) return;
  for (const TensorId member : pick_members(op)) op.inputs.emplace_back(member);
  for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
    TensorFlags flags = result_flags();
    if (flags.has(TensorFlag::external)) flags = {};
    op.outputs.push_back(add_root(flags, scope_.tensor(*op.inputs[i]).size, scope_.tensor(*op.inputs[i]).memory));
    if (dice_.chance(50)) op.in_place.push_back({i, i});
  }
  if (op.inputs.empty()) return;
  add_workspaces(op);
  add_fill(op);
  commit_group(std::move(op));
}

/// The outputs of a group, all of them, in their own places. False when there is none that may be written.
bool OpDrafter::reduce_group(Op op) {
  for (const std::size_t k : dice_.shuffled(scope_.ops.size())) {
    const Op& group = scope_.ops[k];
    const bool fits = group.contiguous_outputs == Contiguity::padded && group.outputs.size() > 1 &&
                      group.aliases.empty() &&
                      std::all_of(group.outputs.begin(), group.outputs.end(), [&](TensorId each) {
                        return !scope_.tensor(each).view_of && scope_.can_read(each, op) && scope_.can_write(each, op);
                      });
    if (!fits) continue;
    const std::vector<TensorId> members = group.outputs;
    for (std::uint32_t i = 0; i < members.size(); ++i) {
      const TensorId aliased = scope_.add_aliased(members[i], 0, scope_.size_of(members[i]));
      scope_.tensors[aliased.index()].alignment = scope_.tensor(members[i]).alignment;
      scope_.draft(aliased).present = 0;
      op.inputs.emplace_back(members[i]);
      op.aliases.push_back({i, i, Bytes(0)});
      op.outputs.push_back(aliased);
    }
    add_workspaces(op);
    commit(std::move(op));
    return true;
  }
  return false;
}

/// Contiguous outputs that are parts of one buffer already.
void OpDrafter::add_refs() {
  Op op = new_op("UNPACK");
  op.contiguous_outputs = Contiguity::padded;
  add_inputs(op);
  const MemoryId memory(dice_.below(scope_.world().memories.size()));
  const Bytes alignment = scope_.world().memories[memory.index()].alignment;
  std::vector<Bytes> offsets;
  std::vector<Bytes> sizes;
  Bytes end;
  for (std::size_t i = 2 + dice_.below(2); i > 0; --i) {
    offsets.push_back(align_up(end, alignment));
    sizes.emplace_back(dice_.size());
    end = offsets.back() + sizes.back();
  }
  const TensorId base = scope_.add_root({.name = {}, .size = end, .memory = memory});
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const TensorId part = scope_.add_view(base, offsets[i].value(), sizes[i].value());
    scope_.tensors[part.index()].alignment = {};
    op.outputs.push_back(part);
  }
  commit_group(std::move(op));
}

void OpDrafter::add_concat() {
  Op op = new_op("CONCAT");
  op.contiguous_inputs = Contiguity::packed;
  const std::vector<TensorId> members = pick_members(op);
  if (members.empty()) return;
  Bytes sum;
  for (const TensorId member : members) {
    op.inputs.emplace_back(member);
    sum += scope_.tensor(member).size;
  }
  if (dice_.chance(10)) op.inputs.insert(op.inputs.begin() + 1, std::nullopt);
  TensorFlags flags = result_flags();
  if (flags.any_of({TensorFlag::external, TensorFlag::input})) flags = {};
  op.outputs = {add_root(flags, sum, scope_.tensor(members.front()).memory)};
  add_workspaces(op);
  const std::vector<TensorId> whole = op.outputs;
  commit(std::move(op));
  mark_packed(whole.front());
  // A variable is copied into the group, so that its own value may change.
  for (const TensorId member : members) {
    if (!scope_.tensors[scope_.draft(member).root].flags.has(TensorFlag::variable)) mark_packed(member);
  }
}

void OpDrafter::add_split() {
  Op op = new_op("SPLIT");
  op.contiguous_outputs = Contiguity::packed;
  const std::optional<TensorId> whole = pick_if([&](TensorId id) {
    return scope_.can_pass_on(id, op) && !scope_.family(id).ring && !scope_.family(id).external &&
           scope_.size_of(id) > 1;
  });
  if (!whole) return;
  op.inputs = {*whole};
  std::int64_t left = scope_.size_of(*whole);
  for (std::size_t i = 1 + dice_.below(2); i > 0; --i) {
    const std::int64_t size = dice_.offset_in(left);
    if (size == 0 && !dice_.may_be_empty()) continue;
    op.outputs.push_back(add_root({}, Bytes(size), scope_.tensor(*whole).memory));
    left -= size;
  }
  op.outputs.push_back(add_root({}, Bytes(left), scope_.tensor(*whole).memory));
  if (scope_.is_root() && dice_.chance(20)) scope_.tensors[op.outputs.front().index()].flags |= TensorFlag::output;
  add_workspaces(op);
  const std::vector<TensorId> parts = op.outputs;
  commit(std::move(op));
  mark_packed(*whole);
  for (const TensorId part : parts) mark_packed(part);
}

}  // namespace stowage::testing
