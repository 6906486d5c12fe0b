#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph/description.hpp"
#include "stowage/graph/ids.hpp"
#include "stowage/plan/program.hpp"

/// A memory plan in terms of its graph.
namespace stowage {

/// What an arena is for. Arenas of kind `persistent` and `user` do not count towards the peak.
enum class ArenaKind : std::uint8_t {
  shared,  ///< The default: storages share its bytes over time.
  /// The same for storages that need a permanent address, when the base of `shared` may change
  /// between runs.
  fixed,
  session,     ///< Workspaces that are kept across graphs and never share bytes.
  persistent,  ///< Constants and variables, each with its own permanent address.
  ring,        ///< "pool" in files: a ring that prefetched tensors pass through.
  user,  ///< A buffer of the caller that other tensors share while its own tensor is not live.
};

[[nodiscard]] STOWAGE_EXPORT std::string_view to_string(ArenaKind kind);
/// Whether it counts towards the peak.
[[nodiscard]] constexpr bool is_paid(ArenaKind kind) {
  return kind != ArenaKind::persistent && kind != ArenaKind::user;
}

/// Why no plan of the graph can have fewer bytes in an arena than its `lower_bound`. Whatever else
/// a plan may choose, it is about plans that put the same values in arenas of this memory and kind,
/// and that bind and fill at the start what this plan does.
struct BoundProof {
  enum class Argument : std::uint8_t {
    none,        ///< Not given.
    live_bytes,  ///< The bytes that are needed at `op` (absent: before the first op).
    /// The same, counting those of at least this `alignment` in multiples of it.
    aligned,
    unordered,  ///< No two of `tensors` and `workspaces` can ever share a byte.
    given,      ///< The graph says the size: that of a ring, or of a caller's buffer.
    search,     ///< A search found nothing smaller. Cannot be checked without repeating it.
    /// It holds for what planning was told or decided by itself, such as not to work in place or
    /// what to copy; not for every plan of the graph.
    choices,
  };
  Argument argument = Argument::none;
  std::optional<OpId> op = {};
  Bytes alignment{1};
  std::vector<TensorId> tensors = {};
  std::vector<WorkspaceId> workspaces = {};

  friend bool operator==(const BoundProof&, const BoundProof&) = default;
};

[[nodiscard]] STOWAGE_EXPORT std::string_view to_string(BoundProof::Argument argument);

/// The logical address range that answers one `Problem`.
struct Arena {
  std::string name;
  MemoryId memory;
  ArenaKind kind = ArenaKind::shared;
  Bytes size;                  ///< The sum of `regions`.
  std::vector<Bytes> regions;  ///< The top of each region.
  Bytes lower_bound;
  bool proven_optimal = false;
  std::optional<TensorId> tensor = {};  ///< For `user`: the tensor whose buffer it is.
  BoundProof proof = {};                ///< Of `lower_bound`.

  friend bool operator==(const Arena&, const Arena&) = default;
};

/// Where a tensor lies: `offset` counts from the start of `region`.
struct Placement {
  TensorId tensor;
  ArenaId arena;
  std::uint32_t region = 0;
  Bytes offset;
  Bytes size;  ///< The tensor's size, not rounded.

  friend bool operator==(const Placement&, const Placement&) = default;
};

/// Where a workspace of an op lies.
struct WorkspacePlacement {
  OpId op;
  std::uint32_t index = 0;
  ArenaId arena;
  std::uint32_t region = 0;
  Bytes offset;
  Bytes size;

  friend bool operator==(const WorkspacePlacement&, const WorkspacePlacement&) = default;
};

/// Bytes that must be set to a value before an op starts. A clear before op 0 precedes everything.
struct Clear {
  ArenaId arena;
  std::uint32_t region = 0;
  Bytes offset;
  Bytes size;
  std::uint8_t value = 0;  ///< The value of each byte.
  OpId before;

  friend bool operator==(const Clear&, const Clear&) = default;
};

/// A tensor that lies in a buffer of the caller.
struct Binding {
  TensorId tensor;
  Bytes size;
  Bytes alignment;

  friend bool operator==(const Binding&, const Binding&) = default;
};

/// When a copy is made.
struct CopyMoment {
  enum class Kind : std::uint8_t {
    before_op,  ///< Right before `op`.
    body_end,   ///< At the end of the body that contains the tensor.
    back_edge,  ///< At the end of each iteration of the loop whose body contains the tensor.
  };
  Kind kind = Kind::before_op;
  OpId op = {};  ///< For before_op.

  [[nodiscard]] static constexpr CopyMoment before(OpId op) { return {Kind::before_op, op}; }
  [[nodiscard]] static constexpr CopyMoment at_body_end() { return {Kind::body_end, {}}; }
  [[nodiscard]] static constexpr CopyMoment at_back_edge() { return {Kind::back_edge, {}}; }
  [[nodiscard]] constexpr bool is_before(OpId other) const { return *this == before(other); }
  friend constexpr auto operator<=>(const CopyMoment&, const CopyMoment&) = default;
};

/// Bytes that must be copied because no single place suits two ops. There are four cases
/// (docs/formats.md):
/// - before an op of which `tensor` is an input: the op reads it here;
/// - before a packed split of which `tensor` is an output: it is filled from the split's input;
/// - at the end of a body: the tensor is copied to where the outer output lies;
/// - at a back edge: the tensor is copied to where the next iteration reads it.
struct Copy {
  TensorId tensor;
  CopyMoment when = {};
  ArenaId arena;  ///< The destination, as are the next two.
  std::uint32_t region = 0;
  Bytes offset;
  Bytes size;
  std::string reason = {};

  friend bool operator==(const Copy&, const Copy&) = default;
};

/// A request that was not granted, or something else that a reader of the plan should know.
struct Note {
  TensorId tensor;
  std::string reason;

  friend bool operator==(const Note&, const Note&) = default;
};

/// The plan of a whole graph: where every tensor lies, as offsets. Addresses are known only once
/// there are buffers. Ids index `Graph::tensors` and `Graph::ops`. (Plan files number tensors and
/// ops body by body: see plan_file.hpp.)
struct STOWAGE_EXPORT Plan {
  std::string graph;               ///< The graph's name.
  Padding padding = Padding::own;  ///< The rule that places and bounds follow.
  std::vector<Arena> arenas;
  std::vector<Placement> placements;           ///< Ascending by tensor.
  std::vector<WorkspacePlacement> workspaces;  ///< Ascending by op, index.
  std::vector<Clear> clears = {};              ///< Ascending by op, arena, region, offset.
  std::vector<Binding> bindings = {};          ///< Ascending by tensor.
  std::vector<Copy> copies = {};               ///< By body, in execution order.
  std::vector<Edge> edges = {};  ///< Ascending. Orderings that the plan adds to those of the graph.
  /// What a run does, in order. Absent: it follows from the rest (a plan file need not have it).
  std::optional<Program> program = {};
  std::vector<Note> notes;

  /// The total size of all arenas except persistent and user ones.
  [[nodiscard]] Bytes peak() const;
  /// The sum of the lower bounds of all arenas except persistent and user ones.
  [[nodiscard]] Bytes lower_bound() const;
  [[nodiscard]] bool proven_optimal() const { return peak() == lower_bound(); }
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// The buffer that the caller provides for a binding in one run.
struct UserBuffer {
  TensorId tensor;
  std::uintptr_t address = 0;
  Bytes size;
};

/// Checks that `buffers` has exactly one buffer per binding, large enough and aligned, and that no
/// two overlap. Fails with `ErrorCode::invalid` and the tensor's number otherwise. O(n log n).
/// Thread-safe.
STOWAGE_EXPORT Status check_bindings(const Plan& plan, std::span<const UserBuffer> buffers);

}  // namespace stowage
