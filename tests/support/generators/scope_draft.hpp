#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "stowage/graph.hpp"
#include "support/generators/constrained_graph.hpp"

/// The state of the generator of constrained graphs.
namespace stowage::testing {

class Dice {
 public:
  explicit Dice(std::uint64_t seed, const ConstrainedGraphOptions& options = {})
      : random_(seed), unit_(options.size_unit), zero_sizes_(options.zero_sizes) {}

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  bool chance(std::size_t percent) { return below(100) < percent; }
  std::int64_t size();
  std::int64_t power_of_two(std::size_t exponents) { return std::int64_t{1} << below(exponents); }
  /// From 0 to `whole`; mostly a multiple of 8, and with a size unit always a multiple of that.
  std::int64_t part(std::int64_t whole);
  /// Where something may begin in that much space, and how large it may be: empty only where zero sizes are drawn at
  /// all.
  std::int64_t offset_in(std::int64_t space) {
    return part(may_be_empty() ? space : std::max<std::int64_t>(space - unit_, 0));
  }
  std::int64_t size_in(std::int64_t space);
  [[nodiscard]] bool may_be_empty() const { return unit_ == 0 || zero_sizes_ > 0; }
  std::vector<std::size_t> shuffled(std::size_t count);

 private:
  std::mt19937_64 random_;
  std::int64_t unit_;
  std::size_t zero_sizes_;
};

/// A ring and the ranges assigned in it so far.
struct RingDraft {
  struct Occupant {
    std::size_t family;
    std::int64_t first;
    std::int64_t last;
  };
  std::int64_t next = 0;
  std::vector<Occupant> occupants = {};
};

/// What all scopes of a graph share.
struct WorldDraft {
  Dice dice;
  ConstrainedGraphOptions options;
  std::vector<Memory> memories = {};
  std::vector<Ring> rings = {};
  std::vector<RingDraft> ring_drafts = {};
  std::vector<std::string> batches = {};
  std::size_t streams = 1;
};

/// Bit sets of the ops of a scope, and of the kinds of runs (one per batch label; a body has one kind).
using OpSet = std::uint64_t;
using KindSet = std::uint64_t;

/// Tensors of a scope that share bytes.
struct FamilyDraft {
  bool writable = true;
  bool frozen = false;   ///< Through bodies, its bytes are those of other families: it must not be written any more.
  bool packed = false;   ///< In a packed group: it has bytes in common with other values.
  bool grouped = false;  ///< Neighbours begin where it ends, or its place is that of something else: it may not grow.
  bool ring = false;     ///< Goes through a pool, and so can be in no group and no alias.
  bool external = false;
  bool evicted = false;  ///< Its bytes in the ring were reused.
  OpSet readers = 0;
  OpSet writers = 0;
  std::optional<std::size_t> outer = {};  ///< The family of the scope around it whose bytes these are.

  [[nodiscard]] bool shares() const { return frozen || packed; }
};

struct TensorDraft {
  std::size_t family = 0;
  std::size_t root = 0;                      ///< The tensor that it is, in the end, a view of.
  std::int64_t in_family = 0;                ///< Its offset there.
  std::int64_t in_root = 0;                  ///< Its offset in its root.
  std::optional<std::size_t> producer = {};  ///< The latest.
  KindSet present = 0;                       ///< Of a root: in which runs it has a value.
  bool whole_only = false;                   ///< Of a root: only ops that never run without it read it.
};

/// One scope: its tensors and ops, and the happens-before order.
class ScopeDraft {
 public:
  ScopeDraft(WorldDraft& world, std::size_t depth)
      : world_(world), depth_(depth), kinds_(depth == 0 ? kind_count() : 1) {}

  // ---------------------------------------------------------------------------------------------------------- tensors
  TensorId add_tensor(Tensor tensor, TensorDraft draft);
  /// A new tensor in a new family.
  TensorId add_root(Tensor tensor);
  TensorId add_view(TensorId base, std::int64_t offset, std::int64_t size);
  /// A tensor that lies `offset` bytes into `base` by an alias of the op about to be added.
  TensorId add_aliased(TensorId base, std::int64_t offset, std::int64_t size);

  // ------------------------------------------------------------------------------------------------------------ order
  /// Orders the op after all ops that it would race with, and adds it. `also_written` are families that its bodies
  /// write.
  OpId commit(Op op, std::span<const std::size_t> also_written = {});

  // ------------------------------------------------------------------------------------------------------------ query
  [[nodiscard]] WorldDraft& world() const { return world_; }
  [[nodiscard]] std::size_t depth() const { return depth_; }
  [[nodiscard]] bool is_root() const { return depth_ == 0; }
  [[nodiscard]] KindSet all_kinds() const { return (KindSet{1} << kinds_) - 1; }
  [[nodiscard]] KindSet kinds_of(const Op& op) const;
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors[id.index()]; }
  [[nodiscard]] TensorDraft& draft(TensorId id) { return drafts[id.index()]; }
  [[nodiscard]] FamilyDraft& family(TensorId id) { return families[drafts[id.index()].family]; }
  [[nodiscard]] std::int64_t size_of(TensorId id) const { return tensors[id.index()].size.value(); }
  [[nodiscard]] Bytes memory_alignment(TensorId id) const;
  /// In which runs the tensor has a value.
  [[nodiscard]] KindSet present(TensorId id) const { return drafts[drafts[id.index()].root].present; }
  /// The op may read it: it has a value in some run of the op.
  [[nodiscard]] bool can_read(TensorId id, const Op& op);
  /// The op may read it, and never runs without it: only such values go into packed groups and bodies.
  [[nodiscard]] bool can_pass_on(TensorId id, const Op& op) {
    return can_read(id, op) && (!is_orderly() || (kinds_of(op) & ~present(id)) == 0);
  }
  /// An op may write it, or a part of it, and none of the op's outputs is of its family.
  [[nodiscard]] bool can_write(TensorId id, const Op& op);

  std::vector<Tensor> tensors;
  std::vector<TensorDraft> drafts;  ///< By tensor.
  std::vector<FamilyDraft> families;
  std::vector<Op> ops;

 private:
  [[nodiscard]] std::size_t kind_count() const { return world_.batches.empty() ? 1 : world_.batches.size(); }
  [[nodiscard]] bool is_orderly() const { return world_.options.conduct == Conduct::orderly; }
  void add_needed_after(Op& op, std::span<const std::size_t> also_written);
  [[nodiscard]] OpSet before(const Op& op, std::size_t kind) const;
  [[nodiscard]] OpSet sources(TensorId tensor) const;

  WorldDraft& world_;
  std::size_t depth_;
  std::size_t kinds_;
  std::vector<OpSet> active_ = std::vector<OpSet>(kinds_);  ///< By kind: the task ops that run.
  std::vector<std::vector<OpSet>> before_ = std::vector<std::vector<OpSet>>(kinds_);  ///< By kind and op.
  std::vector<std::vector<std::optional<std::size_t>>> last_on_stream_ =
      std::vector<std::vector<std::optional<std::size_t>>>(kinds_,
                                                           std::vector<std::optional<std::size_t>>(world_.streams));
};

}  // namespace stowage::testing
