#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "graph/alias_classes.hpp"
#include "stowage/liveness.hpp"

namespace stowage::liveness {

/// Puts classes at fixed distances from each other, as long as no two that are needed at the same time would share bytes.
///
/// A set is what will be one storage: classes and copy slots with places relative to each other. Joining two sets looks at every
/// pair of members that would share bytes: they may when one is a part of the other (packed), when they are never needed at one
/// step, or when they are so only at steps where one hands its bytes to the other. On several streams "never at one step" says
/// nothing, so that only parts and declared hand-overs may share.
class Assembly {
 public:
  explicit Assembly(Liveness& result);

  /// Where the lowest byte of a class lies in its set. Offsets of one set compare with each other.
  struct Where {
    std::size_t set;
    Bytes offset;
  };
  [[nodiscard]] Where where(ClassId id);

  /// `join` where the bytes `of_part`, counted from the lowest byte of `part`, are bytes of `whole` too. The part then insists on
  /// no alignment but its own.
  [[nodiscard]] bool join_part(ClassId part, ByteRange of_part, ClassId whole, Bytes distance);
  /// `join` where the lowest byte of `a` must also be a multiple of `alignment`.
  [[nodiscard]] bool join_aligned(ClassId a, ClassId b, Bytes distance, Bytes alignment);
  /// From now on the class insists on this alignment. False, and nothing changes, where that is not so.
  [[nodiscard]] bool require(ClassId id, Bytes alignment);
  /// States that at `step` one of the two gives its bytes to the other.
  void hand_over(ClassId a, ClassId b, Step step);

  /// Lets the lowest byte of `a` lie `distance` behind that of `b`. False, and nothing changes, when that contradicts what is
  /// known, breaks an alignment, or makes two share bytes that may not.
  [[nodiscard]] bool join(ClassId a, ClassId b, Bytes distance);
  /// Bytes that an op reads copies from.
  struct Slot {
    ByteRange bytes;  ///< Counted as `where` does.
    std::vector<Interval> lives;
    Bytes alignment;  ///< Of the first byte.
  };
  /// Adds all of the slots to a set. False, and nothing changes, when one meets somebody else or alignments do not agree.
  [[nodiscard]] bool add_slots(std::size_t set, std::vector<Slot> slots);
  /// A set that has no classes, for copies that op `op` reads; its slots begin at 0.
  [[nodiscard]] std::size_t add_set(MemoryId memory, bool fixed);

  /// What some sets are, to take joins between them, and their slots, back.
  class Snapshot;
  [[nodiscard]] Snapshot save(const std::vector<ClassId>& classes);
  void restore(const Snapshot& snapshot);

  /// Turns every set of more than one member into a storage. Returns by set the storage and its lowest offset.
  struct Built {
    StorageId storage;
    Bytes lowest;
  };
  std::vector<std::optional<Built>> build();

 private:
  struct Member {
    ClassId id;
    Bytes offset;  ///< Relative to the set's representative.
  };
  struct Set {
    std::vector<Member> members = {};
    std::vector<Slot> slots = {};
    MemoryId memory = {};
    bool fixed = false;
  };

  /// A class that has some bytes of another.
  struct Whole {
    ClassId id;
    Bytes distance;   ///< Of the part's lowest byte from this one's.
    ByteRange bytes;  ///< Of the part.
  };

  /// Whether `bytes` of `part` are bytes of `whole`, directly or through others.
  [[nodiscard]] bool is_part(ClassId part, ByteRange bytes, ClassId whole) const;
  /// Whether two classes may share these bytes, counted in each of them.
  [[nodiscard]] bool may_meet(ClassId a, ByteRange of_a, ClassId b, ByteRange of_b) const;
  void require_only(ClassId id, std::optional<Bytes> alignment);
  [[nodiscard]] bool collide(const Set& a, const Set& b, Bytes shift) const;
  [[nodiscard]] bool collide_with_slots(const Set& classes, const Set& slots, Bytes shift) const;
  [[nodiscard]] bool is_aligned_together(const Set& a, const Set& b, Bytes shift) const;
  [[nodiscard]] ByteRange bytes_of(const Member& member, Bytes shift) const;
  [[nodiscard]] Bytes alignment_of(ClassId id) const;

  Liveness& result_;
  OffsetUnion places_;
  std::vector<Set> sets_;  ///< By representative, then those without classes.
  std::map<ClassId, std::vector<Whole>> wholes_;
  std::map<ClassId, Bytes> required_;
  std::map<std::pair<ClassId, ClassId>, std::vector<Step>> hand_overs_;
};

class Assembly::Snapshot {
  friend class Assembly;

  std::vector<std::pair<std::size_t, Set>> sets_;
  std::vector<OffsetUnion::Saved> places_;
  std::vector<std::pair<ClassId, std::optional<Bytes>>> required_;
};

/// Whether two lists of ascending intervals have a step in common other than those `allowed`.
[[nodiscard]] bool overlap_beside(std::span<const Interval> a, std::span<const Interval> b, std::span<const Step> allowed);

}  // namespace stowage::liveness
