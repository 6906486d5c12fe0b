#include "support/generators/scope_draft.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace stowage::testing {
namespace {

constexpr OpSet bit(std::size_t op) { return OpSet{1} << op; }

}  // namespace

std::int64_t Dice::size() {
  if (unit_ > 0) return chance(zero_sizes_) ? 0 : unit_ * static_cast<std::int64_t>(1 + below(3));
  constexpr std::array<std::int64_t, 12> kSizes = {1, 7, 8, 16, 16, 32, 32, 48, 64, 64, 100, 160};
  return chance(zero_sizes_) ? 0 : kSizes[below(kSizes.size())];
}

std::int64_t Dice::part(std::int64_t whole) {
  if (unit_ > 0) return unit_ * static_cast<std::int64_t>(below(static_cast<std::size_t>(whole / unit_) + 1));
  const auto part = static_cast<std::int64_t>(below(static_cast<std::size_t>(whole) + 1));
  return chance(70) ? part / 8 * 8 : part;
}

std::int64_t Dice::size_in(std::int64_t space) {
  if (may_be_empty() || space < unit_) return part(space);
  return unit_ + part(space - unit_);
}

std::vector<std::size_t> Dice::shuffled(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  return order;
}

// ------------------------------------------------------------------------------------------------------------ tensors

TensorId ScopeDraft::add_tensor(Tensor tensor, TensorDraft draft) {
  const TensorId id(tensors.size());
  tensor.name = (is_root() ? "t" : "b" + std::to_string(depth_) + "t") + std::to_string(id.index());
  if (!tensor.view_of) draft.root = id.index();
  tensors.push_back(std::move(tensor));
  drafts.push_back(draft);
  return id;
}

TensorId ScopeDraft::add_root(Tensor tensor) {
  const bool given = tensor.flags.any_of(kOwnAddress | TensorFlag::input);
  families.push_back({.writable = !tensor.flags.any_of({TensorFlag::constant, TensorFlag::external}),
                      .external = tensor.flags.has(TensorFlag::external)});
  return add_tensor(std::move(tensor), {.family = families.size() - 1, .present = given ? all_kinds() : 0});
}

TensorId ScopeDraft::add_view(TensorId base, std::int64_t offset, std::int64_t size) {
  Tensor view{.name = {}, .size = Bytes(size), .memory = tensor(base).memory, .view_of = ViewOf{base, Bytes(offset)}};
  TensorDraft known = draft(base);
  known.in_family += offset;
  known.in_root += offset;
  known.producer = {};
  Dice& dice = world_.dice;
  // No more than its root asks, so that whatever places that serves the view too.
  const std::int64_t alignment = dice.power_of_two(4);
  const bool fits = (known.in_family | known.in_root) % alignment == 0 &&
                    Bytes(alignment) <= tensors[known.root].alignment.value_or(Bytes(1));
  if (fits && dice.chance(world_.options.own_alignment)) view.alignment = Bytes(alignment);
  return add_tensor(std::move(view), known);
}

TensorId ScopeDraft::add_aliased(TensorId base, std::int64_t offset, std::int64_t size) {
  Tensor aliased{.name = {}, .size = Bytes(size), .memory = tensor(base).memory};
  // Where the op does not run, the bytes hold what the base does, but the tensor is not there.
  const TensorDraft known{.family = draft(base).family,
                          .in_family = draft(base).in_family + offset,
                          .present = present(base),
                          .whole_only = true};
  // A family that begins inside another tensor of the scope around has its own idea of where it begins.
  const std::int64_t in_root = draft(base).in_root + offset;
  if (!is_aligned(Bytes(known.in_family), memory_alignment(base)) ||
      !is_aligned(Bytes(in_root), memory_alignment(base)))
    aliased.alignment = Bytes(1);
  if (const std::optional<Bytes> own = tensors[draft(base).root].alignment; own && *own < memory_alignment(base))
    aliased.alignment = aliased.alignment ? aliased.alignment : own;
  return add_tensor(std::move(aliased), known);
}

Bytes ScopeDraft::memory_alignment(TensorId id) const { return world_.memories[tensor(id).memory.index()].alignment; }

// -------------------------------------------------------------------------------------------------------------- order

KindSet ScopeDraft::kinds_of(const Op& op) const {
  if (op.batch.empty()) return all_kinds();
  const auto found = std::find(world_.batches.begin(), world_.batches.end(), op.batch);
  return KindSet{1} << (found - world_.batches.begin());
}

bool ScopeDraft::can_read(TensorId id, const Op& op) {
  if (!is_orderly()) return present(id) != 0;
  const KindSet kinds = kinds_of(op);
  const bool whole = drafts[draft(id).root].whole_only;
  return (whole ? (kinds & ~present(id)) == 0 : (present(id) & kinds) != 0) && !family(id).evicted;
}

bool ScopeDraft::can_write(TensorId id, const Op& op) {
  const FamilyDraft& of = family(id);
  if (!is_orderly()) return of.writable && !of.ring;
  return of.writable && !of.frozen && !of.ring &&
         std::none_of(op.outputs.begin(), op.outputs.end(),
                      [&](TensorId output) { return draft(output).family == draft(id).family; });
}

void ScopeDraft::add_needed_after(Op& op, std::span<const std::size_t> also_written) {
  OpSet needed = 0;
  for (const std::optional<TensorId>& input : op.inputs) {
    if (input) needed |= family(*input).writers;
  }
  for (const TensorId output : op.outputs) needed |= family(output).writers | family(output).readers;
  for (const std::size_t written : also_written) needed |= families[written].writers | families[written].readers;
  for (std::size_t kind = 0; kind < kinds_; ++kind) {
    if ((kinds_of(op) & bit(kind)) == 0) continue;
    for (std::size_t other = ops.size(); other-- > 0;) {
      if ((needed & active_[kind] & ~before(op, kind) & bit(other)) != 0) op.after.push_back(OpId(other));
    }
  }
}

/// The task ops that happen before `op`, which is about to be added, in runs of that kind.
OpSet ScopeDraft::before(const Op& op, std::size_t kind) const {
  OpSet direct = 0;
  if (const std::optional<std::size_t> last = last_on_stream_[kind][op.stream.index()]) direct |= bit(*last);
  for (const OpId other : op.after) direct |= bit(other.index());
  for (const std::optional<TensorId>& input : op.inputs) {
    if (input) direct |= sources(*input);
  }
  direct &= active_[kind];
  OpSet result = direct;
  for (std::size_t other = 0; other < ops.size(); ++other) {
    if ((direct & bit(other)) != 0) result |= before_[kind][other];
  }
  return result;
}

/// The task ops whose work one reads with `tensor`. Not those that write a variable: which one of them is the latest
/// differs from run to run.
OpSet ScopeDraft::sources(TensorId tensor) const {
  OpSet result = 0;
  if (tensors[drafts[tensor.index()].root].flags.has(TensorFlag::variable)) return result;
  if (const std::optional<ViewOf>& view = tensors[tensor.index()].view_of) result |= sources(view->tensor);
  const std::optional<std::size_t> producer = drafts[tensor.index()].producer;
  if (!producer) return result;
  const Op& op = ops[*producer];
  if (!op.no_task) return result | bit(*producer);
  for (const Alias& alias : op.aliases) {
    if (op.outputs[alias.output] == tensor) result |= sources(*op.inputs[alias.input]);
  }
  return result;
}

OpId ScopeDraft::commit(Op op, std::span<const std::size_t> also_written) {
  const std::size_t index = ops.size();
  if (!op.no_task && is_orderly()) add_needed_after(op, also_written);
  for (std::size_t kind = 0; kind < kinds_; ++kind) {
    const bool runs = !op.no_task && (kinds_of(op) & bit(kind)) != 0;
    before_[kind].push_back(runs ? before(op, kind) : 0);
    if (!runs) continue;
    active_[kind] |= bit(index);
    last_on_stream_[kind][op.stream.index()] = index;
  }
  for (const TensorId output : op.outputs) draft(output).producer = index;
  if (!op.no_task) {
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) family(*input).readers |= bit(index);
    }
    for (const TensorId output : op.outputs) {
      family(output).writers |= bit(index);
      drafts[draft(output).root].present |= kinds_of(op);
    }
    for (const std::size_t written : also_written) families[written].writers |= bit(index);
  }
  op.name = (is_root() ? "op" : "b" + std::to_string(depth_) + "op") + std::to_string(index);
  ops.push_back(std::move(op));
  return OpId(index);
}

}  // namespace stowage::testing
