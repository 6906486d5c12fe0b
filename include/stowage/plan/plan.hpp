#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph/ids.hpp"

/// The answer in the words of the graph.
namespace stowage {

/// What an arena is for. Arenas of kind `persistent` and `user` do not count towards the peak.
enum class ArenaKind : std::uint8_t {
  shared,      ///< The ordinary one: storages share its bytes over time.
  fixed,       ///< The same for what needs one address for ever, where the base of `shared` may move from run to run.
  session,     ///< Workspaces that are kept across graphs, each with bytes of its own.
  persistent,  ///< Constants and variables, each with an address of its own for ever.
  pool,        ///< A ring that prefetched tensors go through.
  user,        ///< A caller's buffer that hosts others outside its own use.
};

[[nodiscard]] std::string_view to_string(ArenaKind kind);
/// Whether it counts towards the peak.
[[nodiscard]] constexpr bool is_paid(ArenaKind kind) { return kind != ArenaKind::persistent && kind != ArenaKind::user; }

/// The logical address range of one Problem.
struct Arena {
  std::string name;
  MemoryId memory;
  ArenaKind kind = ArenaKind::shared;
  Bytes size;                  ///< The sum of `regions`.
  std::vector<Bytes> regions;  ///< The top of each region.
  Bytes lower_bound;
  bool proven_optimal = false;
  std::optional<TensorId> tensor = {};  ///< For user: whose buffer it is.

  friend bool operator==(const Arena&, const Arena&) = default;
};

/// Where a tensor lies: `offset` counts from the start of `region`.
struct Placement {
  TensorId tensor;
  ArenaId arena;
  std::uint32_t region = 0;
  Bytes offset;
  Bytes size;          ///< The tensor's, not rounded.
  BodyPath body = {};  ///< Where the tensor is; its id counts there.

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
  BodyPath body = {};  ///< Where the op is; its id counts there.

  friend bool operator==(const WorkspacePlacement&, const WorkspacePlacement&) = default;
};

/// Bytes that must be set to a value before an op starts. One before op 0 of the root comes before everything.
struct Clear {
  ArenaId arena;
  std::uint32_t region = 0;
  Bytes offset;
  Bytes size;
  std::uint8_t value = 0;  ///< Of each byte.
  OpId before;
  BodyPath body = {};  ///< Where that op is; its id counts there.

  friend bool operator==(const Clear&, const Clear&) = default;
};

/// A tensor that lies in the caller's own buffer.
struct Binding {
  TensorId tensor;
  Bytes size;
  Bytes alignment;

  friend bool operator==(const Binding&, const Binding&) = default;
};

/// Bytes that must be moved because one place cannot serve two ops. Four cases, see docs/formats.md:
///   - `tensor` is an input of op `before`, which reads it here;
///   - `tensor` is an output of the packed split `before`: it is filled from the split's input;
///   - `before` is the number of ops of the body: at its end the tensor is copied to where the outer output lies;
///   - `before` is kBackEdge: at the end of each iteration the tensor is copied to where the next one reads it.
struct Copy {
  static constexpr std::int64_t kBackEdge = -1;

  TensorId tensor;
  std::int64_t before = 0;
  ArenaId arena;  ///< Where to.
  std::uint32_t region = 0;
  Bytes offset;
  Bytes size;
  std::string reason = {};
  BodyPath body = {};  ///< Where tensor and op are; their ids count there.

  friend bool operator==(const Copy&, const Copy&) = default;
};

/// Something that was asked and not granted, or that a reader of the plan should know.
struct Note {
  TensorId tensor;
  std::string reason;
  BodyPath body = {};  ///< Where the tensor is; its id counts there.

  friend bool operator==(const Note&, const Note&) = default;
};

/// The answer for a whole graph. Says where every tensor lies; says nothing about addresses, which come with buffers.
/// Entries of the root come before those of bodies, in the order of the graph's scopes.
struct Plan {
  std::string graph;  ///< The graph's name.
  std::vector<Arena> arenas;
  std::vector<Placement> placements;           ///< Ascending by scope, tensor.
  std::vector<WorkspacePlacement> workspaces;  ///< Ascending by scope, op, index.
  std::vector<Clear> clears = {};              ///< Ascending by scope, op, arena, region, offset.
  std::vector<Binding> bindings = {};          ///< Ascending by tensor.
  std::vector<Copy> copies = {};               ///< Ascending by scope, op, in the order in which they run.
  std::vector<Edge> edges = {};                ///< Ascending. What the plan adds to the order of the graph.
  std::vector<Note> notes;

  /// The sum of all arenas but persistent and user ones.
  [[nodiscard]] Bytes peak() const;
  /// The sum of the lower bounds of all arenas but persistent and user ones.
  [[nodiscard]] Bytes lower_bound() const;
  [[nodiscard]] bool proven_optimal() const { return peak() == lower_bound(); }
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// The buffer that a caller gives for a binding in one run.
struct UserBuffer {
  TensorId tensor;
  std::uintptr_t address = 0;
  Bytes size;
};

/// Fails with `ErrorCode::invalid` and the tensor's number unless `buffers` has exactly one buffer a binding, each large enough
/// and aligned, no two overlapping. O(n log n). Thread-safe.
Status check_bindings(const Plan& plan, std::span<const UserBuffer> buffers);

/// Reads `stowage.plan/1` (docs/formats.md). `file` is the name as the user gave it and only appears
/// in errors. Checks the form only; `verify` judges the content. Thread-safe.
Result<Plan> parse_plan(std::string_view text, const std::string& file);
/// The file that reads back as an equal plan, one entry per line.
[[nodiscard]] std::string plan_to_json(const Plan& plan);

}  // namespace stowage
