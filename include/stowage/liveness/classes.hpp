#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"

/// What shares memory: tensors at fixed distances, and what follows or lies beside them.
namespace stowage {

using ClassId = Id<struct AliasClassList>;

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
  StorageId storage;            ///< For residents of shared, persistent and pool memory.
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

}  // namespace stowage
