#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "liveness/interface/sharing.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"

/// What lies together: tensors at fixed distances, and other tensors that share their storage.
namespace stowage {

/// Tensors at fixed distances from each other: a tensor with its views and mandatory aliases, in bodies too. They live
/// and die together. This struct holds the requirements on the memory of a class; the decisions
/// about it are in `Layout`.
struct AliasClass {
  MemoryId memory;
  Bytes size;           ///< From its lowest byte to its highest.
  Bytes alignment;      ///< Of its lowest byte.
  Bytes own_alignment;  ///< The same without the alignment of its memory; a packed member requires no more.
};

/// What ops and options require of the memory of a class.
enum class Demand : std::uint8_t {
  whole_run = 1 << 0,  ///< Never shares its bytes (no_reuse).
  filled = 1 << 1,     ///< Must be filled before an op.
  fixed = 1 << 2,      ///< An op that needs fixed addresses accesses it.
  grouped = 1 << 3,    ///< A member of a contiguous group.
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
  /// Whether the set contains at least one of `others`.
  [[nodiscard]] constexpr bool any_of(Demands others) const { return (bits_ & others.bits_) != 0; }
  friend constexpr bool operator==(Demands, Demands) = default;

 private:
  std::uint8_t bits_ = 0;
};

/// Where the memory of a class comes from.
enum class Residence : std::uint8_t {
  shared,      ///< Bytes of an arena that other classes may use before and after.
  persistent,  ///< Bytes that are never reused: constants and variables.
  external,    ///< Memory that we do not manage.
  bound,       ///< The caller's own buffer, known only at run time.
  ring,        ///< A range of a prefetch ring.
  nowhere,     ///< Never accessed, so it needs no memory.
};

/// Whether a class of this residence is in a storage.
[[nodiscard]] constexpr bool is_resident(Residence residence) {
  return residence == Residence::shared || residence == Residence::persistent || residence == Residence::ring;
}

/// The role of a class in packed groups. A part may itself have parts.
struct Packing {
  bool is_part = false;    ///< It is a part of a packed whole: its footprint is its size, without padding.
  bool has_parts = false;  ///< It is a packed whole.
};

using StorageId = Id<struct StorageList>;

/// Where a class lies.
struct ClassPosition {
  StorageId storage;  ///< Meaningless unless its residence is one in a storage (`is_resident`).
  Bytes offset;       ///< In that storage.
  Packing packing = {};
};

/// Bytes of a storage that hold a copy for an op to read: outside its classes, or in the whole that the op makes,
/// before all of that is needed.
struct CopyTarget {
  ByteRange bytes;
  std::vector<Interval> lives;
  bool in_whole = false;
};

/// The properties of a storage that holds only copies.
struct CopyHome {
  MemoryId memory;
  bool fixed = false;  ///< Whether the op that reads them needs fixed addresses.
};

/// The unit of placement: a class, or classes that have fixed distances, such as the members of a group. After
/// packing also what packing has joined (`settle`): classes that take over from each other in place.
struct Storage {
  std::vector<ClassId> classes;  ///< In the order in which they take over.
  Bytes size;
  Bytes alignment;
  std::vector<CopyTarget> copy_targets = {};
  bool rigid = false;                 ///< Its classes have fixed distances before packing.
  std::optional<CopyHome> home = {};  ///< Set if there are no classes.
};

/// Two storages that may lie in one place or apart: if `b` begins `distance` bytes after `a`, an output in one of them
/// overwrites an input in the other, as in-place pairs allow, or both are filled with one value of which one run uses
/// only one. Which of these hold is decided by packing.
struct StorageJoin {
  StorageId a;  ///< Less than `b`.
  StorageId b;
  Bytes distance;

  friend bool operator==(const StorageJoin&, const StorageJoin&) = default;
};

/// A copy that the layout needs: of `tensor`, before op number `before` of its scope (see `Copy`).
struct PlannedCopy {
  ScopeId scope;
  std::int64_t before = 0;
  TensorId tensor;
  std::optional<ClassPlace> to;  ///< The destination, if it is in a class.
  StorageId storage = {};        ///< Otherwise the destination is in this storage,
  Bytes offset = {};             ///< at this offset.
  std::string reason;
  /// Of those before one op, the order; the others come last.
  std::size_t number = SIZE_MAX;
};

/// Something that was requested for a tensor and not granted.
struct LayoutNote {
  TensorId tensor;
  std::string text;
};

/// Which workspaces never share their bytes. For classes see `Demand::whole_run`.
struct NoReuse {
  bool everything = false;
  std::vector<char> ops = {};  ///< By op: whether this holds for all its workspaces. Empty: see `Workspace::no_reuse`.
};

/// Which tensors share memory, and at which offsets. A plain value; refers to the graph by ids only.
struct Layout {
  Sharing sharing;
  ByClass<AliasClass> classes;
  ByClass<Demands> demands;
  ByClass<Residence> residences;
  ByClass<ClassPosition> positions;
  std::vector<Storage> storages;
  std::vector<StorageJoin> joins;   ///< Without duplicates.
  bool has_alternatives = false;    ///< Other layouts could join what this one copies, or copy what it joins.
  std::vector<PlannedCopy> copies;  ///< Ordered by scope and op.
  std::vector<char> central_fills;  ///< By op: whether its fill is central. Empty: there are no fills.
  std::vector<TensorId> bound;      ///< Tensors that lie in the caller's buffers.
  std::vector<LayoutNote> notes;
  NoReuse no_reuse = {};
  AddressBase base = AddressBase::fixed;
  Padding padding = Padding::own;

  [[nodiscard]] ClassId class_of(TensorId id) const { return sharing.class_of(id); }
  [[nodiscard]] const Storage& storage(StorageId id) const { return storages[id.index()]; }
  /// The offset of a tensor in its storage. Precondition: its class is in a storage.
  [[nodiscard]] Bytes offset_in_storage(TensorId id) const {
    return positions[class_of(id)].offset + sharing.place(id).offset;
  }
  /// The number of bytes that a tensor or workspace of this size occupies, including its padding.
  [[nodiscard]] Bytes padded(Bytes size, Bytes alignment) const {
    return padding == Padding::own ? align_up(size, alignment) : size;
  }
  /// The number of bytes that a class occupies, including its padding. A part of a packed whole has none.
  [[nodiscard]] Bytes footprint(ClassId id) const {
    return positions[id].packing.is_part ? classes[id].size : padded(classes[id].size, classes[id].alignment);
  }
};

}  // namespace stowage
