#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"

/// Which tensors share memory, and when that memory is needed.
namespace stowage {

using ClassId = Id<struct AliasClassList>;

/// When memory that must hold a value is filled.
enum class FillPolicy : std::uint8_t {
  central,   ///< All of it before the first op, where that is possible: fewer and larger clears.
  separate,  ///< Each right before its op: the memory serves others until then.
};

/// Where the contiguous groups of different batches start.
enum class BatchStart : std::uint8_t {
  free,  ///< Wherever it is best.
  same,  ///< The first group of a kind of each batch at one offset, the second ones at another, and so on.
};

struct LivenessOptions {
  bool in_place = true;                          ///< Let outputs overwrite inputs where the op allows it and the rules permit.
  bool keep_inputs = false;                      ///< Inputs live to the end of the run.
  bool no_reuse = false;                         ///< Everything lives through the whole run.
  std::vector<std::string> no_reuse_names = {};  ///< So do tensors, and outputs and workspaces of ops, of these names.
  FillPolicy zero_fill = FillPolicy::central;
  AddressBase base = AddressBase::fixed;
  BatchStart batch_start = BatchStart::free;
  Bytes fuse_inputs_up_to = {};  ///< Zero-copy inputs no larger than this lie next to each other in our memory instead.
};

// ------------------------------------------------------------------------------------------------------------- timeline

/// What happens at a step.
struct Moment {
  enum class Kind : std::uint8_t {
    op,        ///< An op without bodies runs.
    enter,     ///< An op with bodies starts.
    body_end,  ///< One of its bodies, or an iteration of it, is over.
    exit,      ///< It ends.
    start,     ///< Nothing: the caller has given the inputs. Where batches begin at once.
  };
  Kind kind = Kind::op;
  OpId op;
  ScopeId scope;            ///< Where the op is; for body_end the body.
  std::uint32_t batch = 0;  ///< 1 + the batch that this step belongs to; 0: it is common to all.
};

struct Exclusive;

/// Steps that follow each other, but for parts that exclude each other.
struct Stretch {
  Interval steps;
  std::vector<Exclusive> inside = {};  ///< Ascending.
};

/// Parts of which only one happens in a run: the bodies of a branch, the batches.
struct Exclusive {
  Interval steps;
  std::vector<Stretch> parts;
};

/// The order in which everything is laid out in time: root ops in their order, bodies inside their ops, one after the other;
/// the steps of batches once for each batch. Without bodies and batches step k is op k.
struct Timeline {
  std::vector<Moment> moments;
  Stretch whole;

  /// The steps of an op, from its first to its last; several where it is laid out for each batch.
  [[nodiscard]] std::span<const Interval> spans(OpId op) const {
    return std::span(span_list).subspan(span_begin[op.index()], span_begin[op.index() + 1] - span_begin[op.index()]);
  }
  /// Whether there are bodies or batches.
  [[nodiscard]] bool branches() const { return branching; }

  bool branching = false;
  std::vector<std::size_t> span_begin;  ///< By op, plus one.
  std::vector<Interval> span_list;
};

/// Root op `from` must have finished before `to` starts.
struct OpOrder {
  OpId from;
  OpId to;

  friend auto operator<=>(const OpOrder&, const OpOrder&) = default;
};

// -------------------------------------------------------------------------------------------------------------- classes

/// Where the memory of a class comes from.
enum class Residence : std::uint8_t {
  shared,      ///< Bytes of an arena that others use before and after.
  persistent,  ///< Bytes of its own for ever: constants and variables.
  external,    ///< Not ours.
  bound,       ///< The caller's own buffer, known only at run time.
  pool,        ///< A slot of a prefetch ring.
  nowhere,     ///< Never accessed: needs none.
};

/// Tensors at fixed distances from each other: a tensor with its views and mandatory aliases, in bodies too. They live and die
/// together.
struct AliasClass {
  MemoryId memory;
  Bytes size;           ///< From its lowest byte to its highest.
  Bytes alignment;      ///< Of its lowest byte.
  Bytes own_alignment;  ///< The same without what its memory asks for: all that a packed member can insist on.
  TensorFlags flags;    ///< Of all members.
  Residence residence = Residence::nowhere;
  bool whole_run = false;       ///< Shares its bytes with nothing, ever (no_reuse).
  bool from_start = false;      ///< Its bytes are its own before the first step: the caller's value, or a fill.
  bool never_over = false;      ///< Somebody looks at it after the last step.
  bool filled = false;          ///< An op must find it filled.
  bool fixed = false;           ///< An op that needs one address for ever touches it.
  bool grouped = false;         ///< Some op wants it next to others.
  bool carried = false;         ///< A loop carries it.
  bool packed = false;          ///< A part of a packed whole: ends where it ends, without padding.
  bool has_parts = false;       ///< Such a whole.
  Interval life;                ///< From its first step to its last, on the timeline.
  std::vector<Interval> lives;  ///< The same without holes inside, ascending; may touch. Empty: there are no holes.
  StorageId storage;            ///< For residents of shared and persistent memory.
  Bytes offset;                 ///< In that storage.

  /// The steps at which it is needed.
  [[nodiscard]] std::span<const Interval> needed() const { return lives.empty() ? std::span(&life, 1) : std::span(lives); }
  /// The bytes that it occupies, from its lowest.
  [[nodiscard]] Bytes footprint() const { return packed ? size : align_up(size, alignment); }
};

/// Bytes beside the classes of a storage that an op reads a copy from.
struct CopySlot {
  ByteRange bytes;
  std::vector<Interval> lives;
};

/// The unit of placement: a class, several that follow each other in place, or a group whose members have fixed distances.
struct Storage {
  std::vector<ClassId> classes;  ///< In the order in which they take over.
  Bytes size;
  Bytes alignment;
  std::vector<CopySlot> slots = {};
  bool rigid = false;    ///< Not only a chain in place: who joins must look at every other.
  MemoryId memory = {};  ///< Where there are no classes,
  bool fixed = false;    ///< and whether their op needs one address for ever.
};

/// Where a tensor lies.
struct ClassPlace {
  ClassId id;
  Bytes offset;  ///< From the class's lowest byte.
};

/// A copy that the layout needs: `tensor`, before op number `before` of its scope (see `Copy`).
struct PlannedCopy {
  ScopeId scope;
  std::int64_t before = 0;
  TensorId tensor;
  std::optional<ClassPlace> to;  ///< Into a class,
  StorageId storage = {};        ///< or else into a storage,
  Bytes offset = {};             ///< at this offset.
  std::string reason;
};

/// Which ops happen before which, over streams. Ops of one stream happen in order; so do ops linked by `after` or by data: an op
/// comes after the latest earlier producer of each tensor that it reads, and of the tensors that this one is a view of or,
/// through an op without task, aliased to. Ops without a task order nothing.
///
/// Holds for each op and stream the first op of that stream that happens after it: O(ops × streams) memory, built in
/// O(edges × streams). Holds nothing for graphs of one stream, where the linear order is all there is.
///
/// Bodies: order into and out of a body goes through its op only, whatever streams its ops are on. Bodies of a branch follow each
/// other, which is as good as excluding each other. Batches: an op of one batch orders nothing for another.
class HappensBefore {
 public:
  HappensBefore() = default;
  /// Of the ops in the order of the graph. Precondition: no bodies and no batches.
  explicit HappensBefore(const Graph& graph);
  /// Of the steps of a timeline, with further orderings between root ops.
  HappensBefore(const Graph& graph, const Timeline& timeline, std::span<const OpOrder> edges);

  /// The streams of the graph, and further ones for bodies and batches, whose ops are in no order with others of their stream.
  [[nodiscard]] std::size_t streams() const { return streams_; }
  /// The first step on `stream` that happens after `step`, or kNever. Precondition: `step` is a task op.
  [[nodiscard]] Step next(Step step, std::size_t stream) const;
  /// True when task op `a` happens before task op `b`.
  [[nodiscard]] bool before(Step a, Step b) const;
  /// Of a step.
  [[nodiscard]] std::size_t stream(Step step) const {
    return streams_ == 1 ? 0 : stream_of_[static_cast<std::size_t>(step.value())];
  }

 private:
  std::size_t streams_ = 1;
  std::vector<std::uint32_t> stream_of_;
  std::vector<std::uint32_t> next_;  ///< Row-major, step × stream.
};

/// What is known about a value beside the steps that touch it.
struct Sides {
  bool before = false;  ///< It is there before the first step.
  bool after = false;   ///< Somebody looks at it after the last step.
};

/// The steps at which a value is needed that is touched during `touched` (ascending).
[[nodiscard]] std::vector<Interval> lives_between(const Timeline& timeline, std::span<const Interval> touched, Sides sides);

/// The whole analysis of one graph. A plain value; refers to the graph by ids only.
struct Liveness {
  Timeline timeline;
  Step horizon;           ///< One past the last step; at least 1.
  bool no_reuse = false;  ///< Nothing shares bytes with anything, workspaces included.
  AddressBase base = AddressBase::fixed;
  std::vector<char> no_reuse_ops = {};  ///< By op: its workspaces share bytes with nothing. Empty: those that say so themselves.
  std::vector<AliasClass> classes;
  std::vector<ClassPlace> places;  ///< By tensor.
  std::vector<Storage> storages;
  std::vector<PlannedCopy> copies;  ///< By scope, op.
  std::vector<char> central_fills;  ///< By op: whether its fill happens before everything. Empty: there are none.
  std::vector<TensorId> bound;      ///< Tensors that lie in the caller's buffers.
  std::vector<TensorId> fused;  ///< Inputs that are small enough to be copied in together, and lie next to each other for that.
  std::vector<std::pair<TensorId, std::string>> notes;  ///< What was asked and not granted.
  std::vector<OpOrder> edges;                           ///< That prefetch rings need.
  HappensBefore order;

  /// The steps at which task ops read or write the class, ascending, each once.
  [[nodiscard]] std::span<const Step> accesses(ClassId id) const {
    return std::span(access_steps).subspan(access_begin[id.index()], access_begin[id.index() + 1] - access_begin[id.index()]);
  }

  std::vector<std::size_t> access_begin;  ///< By class, plus one.
  std::vector<Step> access_steps;
};

/// Analyses `graph`. O(tensors + accesses + edges × streams), plus for each op a matching of its in-place pairs.
/// Cannot fail: a built Graph is consistent. Thread-safe.
[[nodiscard]] Liveness analyze(const Graph& graph, const LivenessOptions& options = {});

}  // namespace stowage
