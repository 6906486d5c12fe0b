#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph/ids.hpp"

/// The description of a graph: plain aggregates that anyone may fill. `Graph::build` checks them.
namespace stowage {

/// What is special about a tensor's memory. docs/glossary.md has the rule for each flag.
enum class TensorFlag : std::uint16_t {
  /// Written by the caller before step 0; live from there to its last read.
  input = 1,
  /// Read by the caller after the last step: live to the end and never overwritten.
  output = 2,
  constant = 4,   ///< Has its own address permanently. An op that writes it is an error.
  variable = 8,   ///< Has its own address permanently. Any number of ops may write it.
  no_reuse = 16,  ///< Shares its bytes with no other tensor during the whole run.
  external = 32,  ///< Lives elsewhere and is not placed.
  /// An input or output that should lie in a buffer of the caller, bound at run time.
  zero_copy = 64,
  /// That buffer may hold other tensors while this one is not live. Only with zero_copy.
  reusable = 128,
  /// The input with the shapes of a graph with batch labels; never zero-copy there.
  shape_data = 256,
};

/// A set of `TensorFlag`.
class TensorFlags {
 public:
  constexpr TensorFlags() = default;
  constexpr TensorFlags(TensorFlag flag)
      : bits_(static_cast<std::uint16_t>(flag)) {}  // NOLINT: implicit by intent
  constexpr TensorFlags(std::initializer_list<TensorFlag> flags) {
    for (const TensorFlag flag : flags) *this |= flag;
  }

  constexpr TensorFlags& operator|=(TensorFlags other) {
    bits_ = static_cast<std::uint16_t>(bits_ | other.bits_);
    return *this;
  }
  friend constexpr TensorFlags operator|(TensorFlags a, TensorFlags b) { return a |= b; }
  /// These flags except those in `other`.
  [[nodiscard]] constexpr TensorFlags without(TensorFlags other) const {
    TensorFlags rest;
    rest.bits_ = static_cast<std::uint16_t>(bits_ & ~other.bits_);
    return rest;
  }

  [[nodiscard]] constexpr bool has(TensorFlag flag) const {
    return (bits_ & static_cast<std::uint16_t>(flag)) != 0;
  }
  /// True when at least one flag of `other` is set.
  [[nodiscard]] constexpr bool any_of(TensorFlags other) const {
    return (bits_ & other.bits_) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  friend constexpr bool operator==(TensorFlags, TensorFlags) = default;

 private:
  std::uint16_t bits_ = 0;
};

/// Tensors with one of these flags have their own address: never reused, never written in place.
inline constexpr TensorFlags kOwnAddress{TensorFlag::constant, TensorFlag::variable,
                                         TensorFlag::external};

/// A memory that tensors live in, of a device or the host. Each memory is planned separately.
struct Memory {
  std::string name;
  Bytes alignment{1};  ///< Of every tensor in it without its own alignment. A power of two.
  std::optional<Bytes> max_size = {};  ///< The largest single buffer; absent: no limit.
  /// Informative, except for "p2p": tensors there are never bound to a buffer of the caller.
  std::string kind = "device";
  /// Bytes per unit of the ops' cost; positive. For moving tensors to and from it; absent: unknown.
  std::optional<double> bandwidth = {};

  friend bool operator==(const Memory&, const Memory&) = default;
};

/// A position inside a tensor: where a view starts in its base, which may itself be a view.
struct ViewOf {
  TensorId tensor;
  Bytes offset;

  friend bool operator==(const ViewOf&, const ViewOf&) = default;
};

struct Tensor {
  std::string name;        ///< Informative; need not be unique.
  Bytes size;              ///< As the caller's buffer type counts it, padding included.
  std::string dtype = {};  ///< Informative.
  std::vector<std::int64_t> shape = {};  ///< Informative.
  MemoryId memory = {};
  std::optional<Bytes> alignment = {};  ///< Absent: the memory's.
  TensorFlags flags = {};
  std::optional<ViewOf> view_of = {};
  /// Informative, in a rewritten graph: the tensor of the original graph, in the same body, that
  /// this one is or repeats.
  std::optional<TensorId> origin = {};

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// How long a workspace lives.
enum class WorkspaceScope : std::uint8_t {
  op,       ///< During its op.
  session,  ///< Permanently, across graphs; never shared.
};

/// Scratch memory of an op.
struct Workspace {
  Bytes size;
  MemoryId memory = {};
  std::optional<Bytes> alignment = {};  ///< Absent: the memory's.
  bool no_reuse = false;
  WorkspaceScope scope = WorkspaceScope::op;

  friend bool operator==(const Workspace&, const Workspace&) = default;
};

/// Output `output` of an op may overwrite its input `input`, element by element. Both are positions
/// in the op's lists.
///
/// Each output needs its own pairs: it may overwrite the memory of an input only if every input
/// through which the op reads that memory has a pair with this very output. So in F(x, x) → y, z
/// with the pairs [0, 0] and [1, 1] neither y nor z may overwrite x; with [0, 0] and [0, 1] y may.
struct InPlacePair {
  std::uint32_t output;
  std::uint32_t input;

  friend auto operator<=>(const InPlacePair&, const InPlacePair&) = default;
};

/// Output `output` of an op must lie `offset` bytes into its input `input`. Both are positions in
/// the op's lists.
struct Alias {
  std::uint32_t output;
  std::uint32_t input;
  Bytes offset;

  friend auto operator<=>(const Alias&, const Alias&) = default;
};

/// Whether the base address of shared memory may differ from run to run.
enum class AddressBase : std::uint8_t { fixed, refreshable };

/// Whose the bytes are between the end of a tensor or workspace and the next multiple of its
/// alignment.
enum class Padding : std::uint8_t {
  own,   ///< The tensor's: kernels may touch them while it is live, so nothing else lies there.
  none,  ///< Nobody's: sizes are exact, and only offsets are aligned.
};

[[nodiscard]] constexpr std::string_view to_string(Padding padding) {
  return padding == Padding::own ? "own" : "none";
}

/// When memory that must hold a value is filled.
enum class FillPolicy : std::uint8_t {
  central,   ///< All before the first op where possible: fewer and larger clears.
  separate,  ///< Each right before its op, so that the memory can be used for others until then.
};

/// Where the contiguous groups of different batches start.
enum class BatchStart : std::uint8_t {
  free,  ///< Anywhere.
  same,  ///< The first groups of all batches at one offset, the second groups at another, and so
         ///< on.
};

/// Whether the inputs, or the outputs, of an op must be contiguous, in their order.
enum class Contiguity : std::uint8_t {
  none,
  padded,  ///< Each at the first multiple of its alignment after the previous one.
  /// Without gaps: a concat whose output is its inputs, or a split whose outputs are its input. The
  /// op itself moves no data.
  packed,
};

/// Outputs and workspaces, as positions in the op's lists, whose bytes must all be `value` when the
/// op starts.
struct ZeroFill {
  std::vector<std::uint32_t> outputs = {};
  std::vector<std::uint32_t> workspaces = {};
  std::uint8_t value = 0;

  [[nodiscard]] bool empty() const { return outputs.empty() && workspaces.empty(); }
  friend bool operator==(const ZeroFill&, const ZeroFill&) = default;
};

/// How an op runs its bodies.
enum class Control : std::uint8_t {
  none,
  branch,  ///< Runs exactly one of them.
  loop,    ///< Runs its only body any number of times, or not at all.
  call,    ///< Runs its only body once.
};

/// The op passes its input `outer` to the body as tensor `inner`.
struct BodyInput {
  TensorId outer;
  TensorId inner;

  friend auto operator<=>(const BodyInput&, const BodyInput&) = default;
};

/// Tensor `inner` of the body becomes the op's output `outer`.
struct BodyOutput {
  TensorId inner;
  TensorId outer;

  friend auto operator<=>(const BodyOutput&, const BodyOutput&) = default;
};

/// A loop starts its next iteration with the value of `out` in `in`.
struct Carried {
  TensorId out;
  TensorId in;

  friend auto operator<=>(const Carried&, const Carried&) = default;
};

struct Op;

/// Ops that run within the step of another op, with their own tensors. Ids index the body's lists,
/// except for `outer`, which indexes the list that the op's own tensors are in.
struct Body {
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  std::vector<BodyInput> inputs;
  std::vector<BodyOutput> outputs;
  std::vector<Carried> carried;

  friend STOWAGE_EXPORT bool operator==(const Body& a, const Body& b);
};

/// Memory of a fixed size that prefetched tensors pass through, one after the other.
struct Ring {
  std::string name;
  Bytes size;
  MemoryId memory = {};

  friend bool operator==(const Ring&, const Ring&) = default;
};

struct Op {
  std::string name;                                  ///< Informative; need not be unique.
  std::string kind;                                  ///< Informative: "ADD", "MatMul".
  std::vector<std::optional<TensorId>> inputs = {};  ///< Absent: an omitted optional input.
  std::vector<TensorId> outputs = {};
  bool no_task = false;  ///< Touches no memory (reshape, view) and orders nothing.
  std::vector<InPlacePair> in_place = {};
  std::vector<Alias> aliases = {};
  std::vector<Workspace> workspaces = {};
  StreamId stream = {};
  std::vector<OpId> after = {};  ///< Earlier ops that must finish first.
  bool no_reuse = false;         ///< Applies to each of its outputs and workspaces.
  Contiguity contiguous_inputs = Contiguity::none;
  Contiguity contiguous_outputs = Contiguity::none;
  ZeroFill zero_fill = {};
  /// Everything it accesses, workspaces included, must have the same address in every run.
  bool fixed_address = false;
  /// Runs only when this batch is chosen; empty: always. Batches are mutually exclusive.
  std::string batch = {};
  std::string backend = {};  ///< Informative, and for partitioning.
  Control control = Control::none;
  std::vector<Body> bodies = {};
  std::optional<RingId> prefetch = {};  ///< Its outputs pass through this ring.
  /// How long it takes, in any unit that is the same for all ops; at least 0. Absent: unknown.
  std::optional<double> cost = {};
  std::optional<double> flops = {};  ///< Informative; at least 0.
  /// Whether a rewrite may repeat it: not if it draws random numbers or has other side effects.
  bool recompute = true;
  std::optional<std::int64_t> trip_count = {};  ///< Loops only: how often the body runs.
  /// Informative, in a rewritten graph: the op of the original graph, in the same body, that this
  /// one is or repeats.
  std::optional<OpId> origin = {};
  std::string layer = {};   ///< Informative: the part of the model it belongs to.
  std::string source = {};  ///< Informative: the line of the program that it comes from.

  friend bool operator==(const Op&, const Op&) = default;
};

/// Two tensors that never share a byte, whatever their lives are. Copies that a plan adds do not
/// count: the pair is about the places of the tensors themselves.
struct ApartTensors {
  TensorId a;
  TensorId b;

  friend auto operator<=>(const ApartTensors&, const ApartTensors&) = default;
};

/// A whole graph, not yet checked. Ids are positions in these lists. Ops are in execution order.
struct GraphDescription {
  std::string name;
  std::vector<Memory> memories;
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  std::vector<Ring> rings = {};
  std::vector<ApartTensors> apart = {};  ///< Of tensors of this list, not of those in bodies.

  friend bool operator==(const GraphDescription&, const GraphDescription&) = default;
};

}  // namespace stowage
