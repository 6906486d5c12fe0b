#include "support/generators/body_drafter.hpp"

#include <algorithm>
#include <utility>

namespace stowage::testing {

void BodyDrafter::add_op() {
  op_ = outside_.new_op("CONTROL");
  choose_inputs();
  const std::size_t kind = dice_.below(10);
  op_.control = kind < 4 ? Control::branch : kind < 8 ? Control::loop : Control::call;
  if (op_.control == Control::loop) {
    add_loop();
  } else {
    add_branch_outputs();
    const std::size_t bodies = op_.control == Control::branch ? 1 + dice_.below(3) : 1;
    for (std::size_t i = 0; i < bodies; ++i) add_body();
  }
  if (dice_.chance(10)) outside_.add_workspaces(op_);
  if (dice_.chance(15)) outside_.add_random_after(op_);
  const std::vector<TensorId> outputs = op_.outputs;
  scope_.commit(std::move(op_), std::vector<std::size_t>(written_.begin(), written_.end()));
  for (const std::size_t family : frozen_) scope_.families[family].frozen = true;
  for (const std::size_t family : packed_) scope_.families[family].packed = true;
  for (const TensorId output : outputs) scope_.family(output).grouped = true;
}

void BodyDrafter::choose_inputs() {
  for (std::size_t i = 1 + dice_.below(3); i > 0; --i) {
    const std::optional<TensorId> input = outside_.pick_if([&](TensorId id) { return scope_.can_pass_on(id, op_); });
    if (input) op_.inputs.emplace_back(*input);
  }
}

/// What may lie at an odd place outside is read by the op itself only.
static bool can_pass(ScopeDraft& scope, TensorId outer) {
  const std::optional<Bytes> own = scope.tensors[scope.draft(outer).root].alignment;
  if (own && *own < scope.memory_alignment(outer)) return false;
  return is_aligned(Bytes(scope.draft(outer).in_family), scope.memory_alignment(outer)) &&
         is_aligned(Bytes(scope.draft(outer).in_root), scope.memory_alignment(outer));
}

void BodyDrafter::add_branch_outputs() {
  for (std::size_t i = dice_.chance(5) ? 0 : 1 + dice_.below(2); i > 0; --i) {
    TensorFlags flags = outside_.result_flags();
    if (flags.any_of({TensorFlag::external, TensorFlag::input})) flags = {};
    Tensor result{.name = {}, .size = Bytes(dice_.size()), .flags = flags};
    result.memory = MemoryId(dice_.below(scope_.world().memories.size()));
    if (!op_.inputs.empty() && dice_.chance(70)) {
      const Tensor& like = scope_.tensor(*op_.inputs[dice_.below(op_.inputs.size())]);
      result.size = like.size;
      result.memory = like.memory;
    }
    op_.outputs.push_back(scope_.add_root(std::move(result)));
  }
}

void BodyDrafter::add_body() {
  Draft draft(scope_);
  for (const std::optional<TensorId>& outer : op_.inputs) {
    for (std::size_t i = dice_.chance(15) ? 2 : dice_.chance(85) ? 1 : 0; i > 0; --i) pass_in(draft, *outer);
  }
  add_ops(draft);
  used_.clear();
  used_families_.clear();
  for (const TensorId outer : op_.outputs) draft.body.outputs.push_back({result_for(draft, outer), outer});
  close(draft);
}

/// The inner one is the same bytes.
TensorId BodyDrafter::pass_in(Draft& draft, TensorId outer) {
  const TensorDraft& known = scope_.draft(outer);
  if (!can_pass(scope_, outer)) return outer;
  const auto [family, is_new] = draft.families.try_emplace(known.family, draft.scope.families.size());
  if (is_new) {
    const FamilyDraft& around = scope_.families[known.family];
    draft.scope.families.push_back({.writable = around.writable && !around.ring && dice_.chance(60),
                                    .frozen = around.frozen,
                                    .packed = around.packed,
                                    .grouped = around.grouped,
                                    .ring = around.ring,
                                    .external = around.external,
                                    .outer = known.family});
  }
  const TensorId inner = draft.scope.add_tensor(
      {.name = {}, .size = scope_.tensor(outer).size, .memory = scope_.tensor(outer).memory},
      {.family = family->second, .in_family = known.in_family, .present = draft.scope.all_kinds()});
  draft.body.inputs.push_back({outer, inner});
  return inner;
}

void BodyDrafter::add_ops(Draft& draft) {
  draft.ops.add_given_tensors();
  for (std::size_t i = dice_.below(scope_.world().options.max_body_ops + 1); i > 0; --i) draft.ops.add_op();
}

// ------------------------------------------------------------------------------------------------------------ results

/// What may be the result `outer` of the body: like it, at a place that it may have, and sharing bytes with no other
/// result.
std::vector<TensorId> BodyDrafter::possible_results(Draft& draft, TensorId outer) {
  std::vector<TensorId> result;
  for (std::size_t i = 0; i < draft.scope.tensors.size(); ++i) {
    const TensorId id(i);
    const Tensor& tensor = draft.scope.tensors[i];
    const bool alike = tensor.size == scope_.tensor(outer).size && tensor.memory == scope_.tensor(outer).memory;
    const bool again = used_.contains(id);
    const bool shares = used_families_.contains(draft.scope.draft(id).family) || draft.scope.family(id).shares();
    if (alike && draft.scope.present(id) != 0 && can_pass(draft.scope, id) && (again || !shares || used_.empty()))
      result.push_back(id);
  }
  return result;
}

TensorId BodyDrafter::result_for(Draft& draft, TensorId outer) {
  const std::vector<TensorId> possible = possible_results(draft, outer);
  const bool produce = possible.empty() || dice_.chance(50);
  const TensorId inner = produce ? draft.ops.add_producer(scope_.tensor(outer).size, scope_.tensor(outer).memory)
                                 : possible[dice_.below(possible.size())];
  used_.insert(inner);
  used_families_.insert(draft.scope.draft(inner).family);
  if (draft.scope.family(inner).shares()) frozen_.insert(scope_.draft(outer).family);
  return inner;
}

/// Tells the scope around what the body does to it.
void BodyDrafter::close(Draft& draft) {
  for (const FamilyDraft& family : draft.scope.families) {
    if (!family.outer) continue;
    if (family.writers != 0) written_.insert(*family.outer);
    if (family.frozen) frozen_.insert(*family.outer);
    if (family.packed) packed_.insert(*family.outer);
  }
  draft.body.tensors = std::move(draft.scope.tensors);
  draft.body.ops = std::move(draft.scope.ops);
  op_.bodies.push_back(std::move(draft.body));
}

// -------------------------------------------------------------------------------------------------------------- loops

TensorId BodyDrafter::carry_in(Draft& draft, TensorId outer) {
  const TensorId in =
      draft.scope.add_root({.name = {}, .size = scope_.tensor(outer).size, .memory = scope_.tensor(outer).memory});
  draft.scope.draft(in).present = draft.scope.all_kinds();
  draft.scope.family(in).grouped = true;
  draft.body.inputs.push_back({outer, in});
  return in;
}

/// Carried unchanged, aliased, in place, dead before, or still read when the next value is there already.
void BodyDrafter::carry_out(Draft& draft, TensorId in) {
  ScopeDraft& scope = draft.scope;
  const std::size_t kind = dice_.below(100);
  TensorId out = in;
  const std::vector<Carried>& before = draft.body.carried;
  const bool like_before = !before.empty() && before.back().out != before.back().in &&
                           scope.tensor(before.back().out).size == scope.tensor(in).size &&
                           scope.tensor(before.back().out).memory == scope.tensor(in).memory;
  if (like_before && dice_.chance(10) &&
      scope.draft(before.back().out).family != scope.draft(before.back().in).family) {
    out = before.back().out;
  } else if (kind < 10) {
    // As it came.
  } else if (kind < 25 && !scope.family(in).frozen) {
    Op op = draft.ops.new_op("UPDATE");
    op.inputs = {in};
    op.aliases = {{0, 0, Bytes(0)}};
    out = scope.add_aliased(in, 0, scope.size_of(in));
    scope.draft(out).present = 0;
    op.outputs = {out};
    draft.ops.commit(std::move(op));
  } else {
    out = draft.ops.add_producer(scope.tensor(in).size, scope.tensor(in).memory,
                                 kind < 60 ? std::optional<TensorId>(in) : std::nullopt);
  }
  draft.body.carried.push_back({out, in});
  if (dice_.chance(30)) {
    Op late = draft.ops.new_op("LATE");
    late.inputs = {in, out};
    late.outputs = {draft.ops.add_result(late)};
    draft.ops.commit(std::move(late));
  }
}

void BodyDrafter::add_loop() {
  Draft draft(scope_);
  std::vector<TensorId> carried;
  std::vector<TensorId> outers;
  for (const std::optional<TensorId>& outer : op_.inputs) {
    const bool carries = dice_.chance(60) && !scope_.family(*outer).ring;
    if (carries) {
      carried.push_back(carry_in(draft, *outer));
      outers.push_back(*outer);
    }
    if (!carries || dice_.chance(20)) pass_in(draft, *outer);
  }
  add_ops(draft);
  for (const TensorId in : carried) carry_out(draft, in);
  for (std::size_t i = 0; i < carried.size(); ++i) {
    std::vector<TensorId> results;
    for (std::size_t n = dice_.chance(10) ? 2 : dice_.chance(85) ? 1 : 0; n > 0; --n) {
      TensorFlags flags = outside_.result_flags();
      if (flags.any_of({TensorFlag::external, TensorFlag::input})) flags = {};
      Tensor like{
          .name = {}, .size = scope_.tensor(outers[i]).size, .memory = scope_.tensor(outers[i]).memory, .flags = flags};
      results.push_back(scope_.add_root(std::move(like)));
      const Carried& pair = draft.body.carried[i];
      const bool twice = std::count_if(draft.body.carried.begin(), draft.body.carried.end(),
                                       [&](const Carried& each) { return each.out == pair.out; }) > 1;
      draft.body.outputs.push_back({dice_.chance(80) && !twice ? pair.out : pair.in, results.back()});
      op_.outputs.push_back(results.back());
      const bool shared = draft.scope.family(pair.out).shares() || draft.scope.family(pair.in).shares();
      if (shared) frozen_.insert(scope_.draft(results.back()).family);
    }
    // Both lie where the value comes in.
    for (const TensorId result : results) {
      if (results.size() > 1) frozen_.insert(scope_.draft(result).family);
    }
  }
  close(draft);
}

}  // namespace stowage::testing
