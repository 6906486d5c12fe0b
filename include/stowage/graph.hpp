#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stowage/base.hpp"

/// The tensor graph whose memory is planned: what must hold, stated as types.
///
/// A `GraphDescription` is a plain aggregate that anyone may fill: the C++ builder, an importer, a test. `Graph::build`
/// validates it and turns it into an immutable `Graph`.
namespace stowage {

/// What is special about a tensor's memory. See docs/glossary.md for the rule behind each.
enum class TensorFlag : std::uint8_t {
  input = 1,      ///< Written by the caller before step 0; its memory is its own from there to its last read.
  output = 2,     ///< Read by the caller after the last step: lives to the end and is never overwritten.
  constant = 4,   ///< Has an address of its own for ever; an op that writes it is an error.
  variable = 8,   ///< Has an address of its own for ever; ops may write it, several ops too.
  no_reuse = 16,  ///< Shares its bytes with nothing during the whole run.
  external = 32,  ///< Lives elsewhere: not placed at all.
};

/// A set of `TensorFlag`.
class TensorFlags {
 public:
  constexpr TensorFlags() = default;
  constexpr TensorFlags(TensorFlag flag) : bits_(static_cast<std::uint8_t>(flag)) {}  // NOLINT: implicit by intent
  constexpr TensorFlags(std::initializer_list<TensorFlag> flags) {
    for (const TensorFlag flag : flags) *this |= flag;
  }

  constexpr TensorFlags& operator|=(TensorFlags other) {
    bits_ = static_cast<std::uint8_t>(bits_ | other.bits_);
    return *this;
  }
  friend constexpr TensorFlags operator|(TensorFlags a, TensorFlags b) { return a |= b; }

  [[nodiscard]] constexpr bool has(TensorFlag flag) const { return (bits_ & static_cast<std::uint8_t>(flag)) != 0; }
  /// True when at least one flag of `other` is set.
  [[nodiscard]] constexpr bool any_of(TensorFlags other) const { return (bits_ & other.bits_) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  friend constexpr bool operator==(TensorFlags, TensorFlags) = default;

 private:
  std::uint8_t bits_ = 0;
};

/// Tensors with one of these have an address of their own: never reused, never written in place.
inline constexpr TensorFlags kOwnAddress{TensorFlag::constant, TensorFlag::variable, TensorFlag::external};

/// Memory that tensors live in: a device's, the host's. Each is planned on its own.
struct Memory {
  std::string name;
  Bytes alignment{1};                  ///< Of every tensor in it that names none of its own. A power of two.
  std::optional<Bytes> max_size = {};  ///< The largest single buffer; absent means no limit.
  std::string kind = "device";         ///< For people.

  friend bool operator==(const Memory&, const Memory&) = default;
};

/// The place of a view inside its base, which may itself be a view.
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

/// Scratch memory that lives during one op only.
struct Workspace {
  Bytes size;
  MemoryId memory = {};
  std::optional<Bytes> alignment = {};  ///< Absent: the memory's.
  bool no_reuse = false;

  friend bool operator==(const Workspace&, const Workspace&) = default;
};

/// Output `output` of an op may overwrite its input `input` (positions in the op's lists), element by element.
struct InPlacePair {
  std::uint32_t output;
  std::uint32_t input;

  friend auto operator<=>(const InPlacePair&, const InPlacePair&) = default;
};

/// Output `output` of an op must lie `offset` bytes into its input `input` (positions in the op's lists).
struct Alias {
  std::uint32_t output;
  std::uint32_t input;
  Bytes offset;

  friend auto operator<=>(const Alias&, const Alias&) = default;
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

  friend bool operator==(const Op&, const Op&) = default;
};

/// Everything a graph says, not yet checked. Ids are positions in these lists; ops are in execution order.
struct GraphDescription {
  std::string name;
  std::vector<Memory> memories;
  std::vector<Tensor> tensors;
  std::vector<Op> ops;

  friend bool operator==(const GraphDescription&, const GraphDescription&) = default;
};

/// A validated graph. Immutable, so that any number of threads may read one at the same time; copying copies the whole.
class Graph {
 public:
  /// Where the bytes of a tensor start, with views followed to the tensor that is a view of nothing.
  struct Root {
    TensorId tensor;
    Bytes offset;
  };

  /// Validates `description`. O(size of the description). Fails with `ErrorCode::invalid` and the path, the op and the
  /// tensor on: an unknown id; a size below 0 or sizes that sum to more than 2^62; an alignment that is not a power of
  /// two; a view outside its base, of itself, in another memory, or with an address of its own; a view or alias whose alignment
  /// its offset breaks; a tensor with two producers (variables excepted); an op that writes a constant; a read before any write;
  /// `after` naming an op that does not come earlier (a cycle); pairs and aliases with positions that the op does not have;
  /// aliases that contradict each other.
  ///
  /// Not errors: equal names, tensors that nobody uses, empty graphs, tensors of size 0, an input that is also constant
  /// (then it is a constant). A description without memories gets one, named "memory", of alignment 1.
  static Result<Graph> build(GraphDescription description);

  [[nodiscard]] const std::string& name() const { return description_.name; }
  [[nodiscard]] std::span<const Memory> memories() const { return description_.memories; }
  [[nodiscard]] std::span<const Tensor> tensors() const { return description_.tensors; }
  [[nodiscard]] std::span<const Op> ops() const { return description_.ops; }
  [[nodiscard]] const Memory& memory(MemoryId id) const { return description_.memories[id.index()]; }
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return description_.tensors[id.index()]; }
  [[nodiscard]] const Op& op(OpId id) const { return description_.ops[id.index()]; }

  /// The whole as it was described.
  [[nodiscard]] const GraphDescription& description() const { return description_; }

  [[nodiscard]] Root root(TensorId id) const { return roots_[id.index()]; }
  /// The alignment that the tensor's address must have: its own, or for a tensor that is not a view its memory's. A view
  /// without an alignment of its own lies wherever its base puts it (1).
  [[nodiscard]] Bytes alignment(TensorId id) const;
  [[nodiscard]] Bytes alignment(const Workspace& workspace) const;
  /// The number of streams: one more than the largest stream id of a task op, at least 1.
  [[nodiscard]] std::size_t stream_count() const { return stream_count_; }

 private:
  Graph() = default;

  GraphDescription description_;
  std::vector<Root> roots_;
  std::size_t stream_count_ = 1;
};

/// Puts a description together piece by piece; each `add` returns the id of what it added. Not thread-safe. Nothing is
/// checked before `build`.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) { description_.name = std::move(name); }

  MemoryId add(Memory memory);
  TensorId add(Tensor tensor);
  OpId add(Op op);

  /// `Graph::build` of what was added so far; leaves the builder empty.
  Result<Graph> build();

 private:
  GraphDescription description_;
};

/// "tensor 'x' (3)" and "op 'matmul' (7)": how messages name things.
[[nodiscard]] std::string describe(const Tensor& tensor, TensorId id);
[[nodiscard]] std::string describe(const Op& op, OpId id);

}  // namespace stowage
