#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "liveness/interface/sharing.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"

/// What lies together: tensors at fixed distances, and what follows or lies beside them.
namespace stowage {

/// Tensors at fixed distances from each other: a tensor with its views and mandatory aliases, in bodies too. They live
/// and die together. This is what the memory of a class must be like; what is decided about it is in `Layout`.
struct AliasClass {
  MemoryId memory;
  Bytes size;           ///< From its lowest byte to its highest.
  Bytes alignment;      ///< Of its lowest byte.
  Bytes own_alignment;  ///< The same without what its memory asks for: all that a packed member can insist on.
};

/// What ops and options ask of the memory of a class.
enum class Demand : std::uint8_t {
  whole_run = 1 << 0,  ///< Shares its bytes with nothing, ever (no_reuse).
  filled = 1 << 1,     ///< An op must find it filled.
  fixed = 1 << 2,      ///< An op that needs one address for ever touches it.
  grouped = 1 << 3,    ///< Some op wants it next to others.
  carried = 1 << 4,    ///< A loop carries it.
};

/// A set of `Demand`.
class Demands {
 public:
  constexpr Demands() = default;
  constexpr Demands(std::initializer_list<Demand> demands) {
    for (const Demand demand : demands) add(demand);
  }

  constexpr void add(Demand demand) { bits_ = static_cast<std::uint8_t>(bits_ | static_cast<std::uint8_t>(demand)); }

  [[nodiscard]] constexpr bool has(Demand demand) const { return (bits_ & static_cast<std::uint8_t>(demand)) != 0; }
  /// True when at least one of `others` is there.
  [[nodiscard]] constexpr bool any_of(Demands others) const { return (bits_ & others.bits_) != 0; }
  friend constexpr bool operator==(Demands, Demands) = default;

 private:
  std::uint8_t bits_ = 0;
};

/// Where the memory of a class comes from.
enum class Residence : std::uint8_t {
  shared,      ///< Bytes of an arena that others use before and after.
  persistent,  ///< Bytes of its own for ever: constants and variables.
  external,    ///< Not ours.
  bound,       ///< The caller's own buffer, known only at run time.
  ring,        ///< A range of a prefetch ring.
  nowhere,     ///< Never accessed: needs none.
};

/// Whether a class of this residence is in a storage.
[[nodiscard]] constexpr bool is_resident(Residence residence) {
  return residence == Residence::shared || residence == Residence::persistent || residence == Residence::ring;
}

/// How a class belongs to packed groups. One that is a part may have parts itself.
struct Packing {
  bool is_part = false;    ///< A part of a packed whole: ends where it ends, without padding.
  bool has_parts = false;  ///< Such a whole.
};

/// Where a class lies.
struct ClassPosition {
  StorageId storage;  ///< Meaningless where its residence is in none.
  Bytes offset;       ///< In that storage.
  Packing packing = {};
};

/// Bytes beside the classes of a storage that an op reads a copy from.
struct CopyTarget {
  ByteRange bytes;
  std::vector<Interval> lives;
};

/// What is known of a storage that holds copies only.
struct CopyHome {
  MemoryId memory;
  bool fixed = false;  ///< Whether the op that reads them needs one address for ever.
};

/// The unit of placement: a class, several that follow each other in place, or a group whose members have fixed
/// distances.
struct Storage {
  std::vector<ClassId> classes;  ///< In the order in which they take over.
  Bytes size;
  Bytes alignment;
  std::vector<CopyTarget> copy_targets = {};
  bool rigid = false;                 ///< Not only a chain in place: who joins must look at every other.
  std::optional<CopyHome> home = {};  ///< Where there are no classes.
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

/// What was asked for a tensor and not granted.
struct LayoutNote {
  TensorId tensor;
  std::string text;
};

/// Whose bytes are shared with nothing beside those classes that demand it: workspaces.
struct NoReuse {
  bool everything = false;
  std::vector<char> ops = {};  ///< By op: its workspaces. Empty: those that say so themselves.
};

/// What lies where together. A plain value; refers to the graph by ids only.
struct Layout {
  Sharing sharing;
  ByClass<AliasClass> classes;
  ByClass<Demands> demands;
  ByClass<Residence> residences;
  ByClass<ClassPosition> positions;
  std::vector<Storage> storages;
  std::vector<PlannedCopy> copies;  ///< By scope, op.
  std::vector<char> central_fills;  ///< By op: whether its fill happens before everything. Empty: there are none.
  std::vector<TensorId> bound;      ///< Tensors that lie in the caller's buffers.
  std::vector<LayoutNote> notes;
  NoReuse no_reuse = {};
  AddressBase base = AddressBase::fixed;

  [[nodiscard]] ClassId class_of(TensorId id) const { return sharing.class_of(id); }
  [[nodiscard]] const Storage& storage(StorageId id) const { return storages[id.index()]; }
  /// Where a tensor lies in its storage. Precondition: its class is in one.
  [[nodiscard]] Bytes offset_in_storage(TensorId id) const {
    return positions[class_of(id)].offset + sharing.place(id).offset;
  }
  /// The bytes that a class occupies, from its lowest.
  [[nodiscard]] Bytes footprint(ClassId id) const {
    return positions[id].packing.is_part ? classes[id].size : align_up(classes[id].size, classes[id].alignment);
  }
};

}  // namespace stowage
