#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph/ids.hpp"

/// What a graph says, as plain aggregates that anyone may fill. `Graph::build` checks it.
namespace stowage {

/// What is special about a tensor's memory. See docs/glossary.md for the rule behind each.
enum class TensorFlag : std::uint16_t {
  input = 1,  ///< Written by the caller before step 0; its memory is its own from there to its last
              ///< read.
  output =
      2,  ///< Read by the caller after the last step: lives to the end and is never overwritten.
  constant = 4,   ///< Has an address of its own for ever; an op that writes it is an error.
  variable = 8,   ///< Has an address of its own for ever; ops may write it, several ops too.
  no_reuse = 16,  ///< Shares its bytes with nothing during the whole run.
  external = 32,  ///< Lives elsewhere: not placed at all.
  zero_copy =
      64,  ///< An input or output that should lie in the caller's own buffer, bound at run time.
  reusable = 128,  ///< That buffer may host other tensors outside its own use. Only with zero_copy.
  shape_data = 256,  ///< The shapes of a graph with batch labels; never zero-copy there.
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
  /// Those of these flags that are not in `other`.
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

/// Tensors with one of these have an address of their own: never reused, never written in place.
inline constexpr TensorFlags kOwnAddress{TensorFlag::constant, TensorFlag::variable,
                                         TensorFlag::external};

/// Memory that tensors live in: a device's, the host's. Each is planned on its own.
struct Memory {
  std::string name;
  Bytes alignment{1};  ///< Of every tensor in it that names none of its own. A power of two.
  std::optional<Bytes> max_size = {};  ///< The largest single buffer; absent means no limit.
  std::string kind =
      "device";  ///< For people, except for "p2p": a caller's buffer cannot stand in for that.

  friend bool operator==(const Memory&, const Memory&) = default;
};

/// A position inside a tensor: where a view starts in its base, which may itself be a view.
struct ViewOf {
  TensorId tensor;
  Bytes offset;

  friend bool operator==(const ViewOf&, const ViewOf&) = default;
};

struct Tensor {
  std::string name;                      ///< For people; need not be unique.
  Bytes size;                            ///< Bytes as the caller's buffer type counts them.
  std::string dtype = {};                ///< For people.
  std::vector<std::int64_t> shape = {};  ///< For people.
  MemoryId memory = {};
  std::optional<Bytes> alignment = {};  ///< Absent: the memory's.
  TensorFlags flags = {};
  std::optional<ViewOf> view_of = {};

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// How long a workspace lives.
enum class WorkspaceScope : std::uint8_t {
  op,       ///< During its op only.
  session,  ///< For ever, across graphs; shared with nothing.
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

/// Output `output` of an op may overwrite its input `input` (positions in the op's lists), element
/// by element.
struct InPlacePair {
  std::uint32_t output;
  std::uint32_t input;

  friend auto operator<=>(const InPlacePair&, const InPlacePair&) = default;
};

/// Output `output` of an op must lie `offset` bytes into its input `input` (positions in the op's
/// lists).
struct Alias {
  std::uint32_t output;
  std::uint32_t input;
  Bytes offset;

  friend auto operator<=>(const Alias&, const Alias&) = default;
};

/// Whether the base address of the memory that tensors share may differ from run to run.
enum class AddressBase : std::uint8_t { fixed, refreshable };

/// When memory that must hold a value is filled.
enum class FillPolicy : std::uint8_t {
  central,   ///< All of it before the first op, where that is possible: fewer and larger clears.
  separate,  ///< Each right before its op: the memory serves others until then.
};

/// Where the contiguous groups of different batches start.
enum class BatchStart : std::uint8_t {
  free,  ///< Wherever it is best.
  same,  ///< The first group of a kind of each batch at one offset, the second ones at another, …
};

/// Whether the inputs, or the outputs, of an op must lie next to each other in their order.
enum class Contiguity : std::uint8_t {
  none,
  padded,  ///< Each at the first multiple of its alignment behind the one before.
  packed,  ///< Without any gap: a concat whose output is its inputs, a split whose outputs are its
           ///< input. The op moves nothing.
};

/// Outputs and workspaces (positions in the op's lists) of which every byte must hold `value` when
/// the op starts.
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
  branch,  ///< Exactly one of them.
  loop,    ///< The one body, any number of times, none included.
  call,    ///< The one body, once.
};

/// Tensor `inner` of a body is what the op reads as `outer`.
struct BodyInput {
  TensorId outer;
  TensorId inner;

  friend auto operator<=>(const BodyInput&, const BodyInput&) = default;
};

/// What the op writes as `outer` is tensor `inner` of a body.
struct BodyOutput {
  TensorId inner;
  TensorId outer;

  friend auto operator<=>(const BodyOutput&, const BodyOutput&) = default;
};

/// In the next iteration of a loop, `in` has the value that `out` had at the end of this one.
struct Carried {
  TensorId out;
  TensorId in;

  friend auto operator<=>(const Carried&, const Carried&) = default;
};

struct Op;

/// Ops that run inside another one's step, with tensors of their own. Ids count in the body's own
/// lists, except for `outer`, which counts where the op itself is.
struct Body {
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  std::vector<BodyInput> inputs;
  std::vector<BodyOutput> outputs;
  std::vector<Carried> carried;

  friend STOWAGE_EXPORT bool operator==(const Body& a, const Body& b);
};

/// Memory of fixed size that prefetched tensors go through, one after the other.
struct Ring {
  std::string name;
  Bytes size;
  MemoryId memory = {};

  friend bool operator==(const Ring&, const Ring&) = default;
};

struct Op {
  std::string name;                                  ///< For people; need not be unique.
  std::string kind;                                  ///< For people: "ADD", "MatMul".
  std::vector<std::optional<TensorId>> inputs = {};  ///< Absent: an omitted optional input.
  std::vector<TensorId> outputs = {};
  bool no_task = false;  ///< Touches no memory (reshape, view) and orders nothing.
  std::vector<InPlacePair> in_place = {};
  std::vector<Alias> aliases = {};
  std::vector<Workspace> workspaces = {};
  StreamId stream = {};
  std::vector<OpId> after = {};  ///< Ops, earlier in the order, that must have finished.
  bool no_reuse = false;         ///< As if each output and workspace had it.
  Contiguity contiguous_inputs = Contiguity::none;
  Contiguity contiguous_outputs = Contiguity::none;
  ZeroFill zero_fill = {};
  bool fixed_address =
      false;  ///< What it touches, workspaces included, must have the same address in every run.
  std::string batch = {};    ///< Runs only when this batch is chosen; empty: always. Different
                             ///< batches exclude each other.
  std::string backend = {};  ///< For people, and for partitioning.
  Control control = Control::none;
  std::vector<Body> bodies = {};
  std::optional<RingId> prefetch = {};  ///< Its outputs go through this ring.

  friend bool operator==(const Op&, const Op&) = default;
};

/// Everything a graph says, not yet checked. Ids are positions in these lists; ops are in execution
/// order.
struct GraphDescription {
  std::string name;
  std::vector<Memory> memories;
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  std::vector<Ring> rings = {};

  friend bool operator==(const GraphDescription&, const GraphDescription&) = default;
};

}  // namespace stowage
