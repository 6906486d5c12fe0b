#pragma once

#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "layout/interface/layout.hpp"
#include "layout/rectangle_index.hpp"
#include "layout/revocable_union.hpp"
#include "liveness/interface/lives.hpp"

namespace stowage::layout {

/// Bytes that an op reads copies from.
struct AlignedTarget {
  CopyTarget target;
  Bytes alignment;  ///< Of the first byte.
};

/// A set that has become a storage.
struct BuiltSet {
  StorageId storage;
  Bytes lowest;  ///< Where the storage begins, counted as `Assembly::where` does.
};

/// What an assembly comes to.
struct Assembled {
  std::vector<Storage> storages;
  ByClass<ClassPosition> positions;
  std::vector<std::optional<BuiltSet>> sets;  ///< By set; nothing for a class that is alone.
};

/// Puts classes at fixed distances from each other, as long as no two that are needed at the same time would share
/// bytes.
///
/// A set is what will be one storage: classes and copy targets with places relative to each other. When two sets join,
/// every pair of members that would share bytes is looked at: they may when one is a part of the other (packed), when
/// they are never needed at one step, or when they are so only at steps where one hands its bytes to the other. On
/// several streams "never at one step" says nothing, so that only parts and declared hand-overs may share.
///
/// The members of the smaller set are looked up in an index of the larger one, and then go into it; so each member
/// moves O(log n) times in all, and a join costs O(log n) lookups per member, plus the pairs that do share bytes at one
/// step.
class Assembly {
 public:
  /// Both must outlive it.
  Assembly(const ByClass<AliasClass>& classes, const ByClass<Life>& lives, std::size_t streams);

  /// Where the lowest byte of a class lies in its set. Offsets of one set compare with each other.
  struct PlaceInSet {
    std::size_t set;
    Bytes offset;
  };
  [[nodiscard]] PlaceInSet where(ClassId id);

  /// `join` where the bytes `of_part`, counted from the lowest byte of `part`, are bytes of `whole` too. The part then
  /// insists on no alignment but its own. Precondition: not between `begin` and `keep`.
  [[nodiscard]] bool join_part(ClassId part, ByteRange of_part, ClassId whole, Bytes distance);
  /// `join` where the lowest byte of `a` must also be a multiple of `alignment`.
  [[nodiscard]] bool join_aligned(ClassId a, ClassId b, Bytes distance, Bytes alignment);
  /// From now on the class insists on this alignment. False, and nothing changes, where that is not so.
  [[nodiscard]] bool require(ClassId id, Bytes alignment);
  /// To be called when the class is needed at other steps than before. O(members of its set).
  void lives_changed(ClassId id);
  /// States that at `step` one of the two gives its bytes to the other.
  void hand_over(ClassId a, ClassId b, Step step);

  /// Lets the lowest byte of `a` lie `distance` behind that of `b`. False, and nothing changes, when that contradicts
  /// what is known, breaks an alignment, or makes two share bytes that may not.
  [[nodiscard]] bool join(ClassId a, ClassId b, Bytes distance);
  /// Adds all of the targets, which do not overlap, to a set; their bytes are counted as `where` does. False, and
  /// nothing changes, when one meets somebody else or alignments do not agree.
  [[nodiscard]] bool add_copies(std::size_t set, std::vector<AlignedTarget> targets);
  /// A set that has no classes, for copies that an op reads; they begin at 0.
  [[nodiscard]] std::size_t add_set(const CopyHome& home);

  /// From here on joins, requirements and copies can be taken back, all at once,
  void begin();
  void undo();
  /// or kept for good. Precondition of both: `begin`, once.
  void keep();

  /// Turns every set of more than one member into a storage.
  [[nodiscard]] Assembled build();

 private:
  /// Members are numbered: classes by their ids, then copy targets, and sets that began without classes.
  using MemberId = std::size_t;
  static constexpr MemberId kNone = std::numeric_limits<MemberId>::max();

  /// What a set is as a whole; offsets are relative to its representative.
  struct Outline {
    MemberId first = kNone;  ///< The others follow it in `next_`. None: nobody has asked for this set yet.
    MemberId last = kNone;
    std::size_t rank = 0;  ///< Storages come in this order.
    Bytes lowest = kMaxBytes;
    std::optional<CopyHome> home = {};  ///< Where it began without classes.
  };
  struct Set {
    Outline outline = {};
    std::map<Bytes, std::size_t> alignments = {};  ///< How many members insist on each.
    RectangleIndex index = {};                     ///< May have some that have left again,
    std::size_t left = 0;                          ///< at most as many.
  };

  /// A class that has some bytes of another.
  struct Whole {
    ClassId id;
    Bytes distance;   ///< Of the part's lowest byte from this one's.
    ByteRange bytes;  ///< Of the part.
  };

  /// Something that can be taken back.
  struct Change {
    MemberId member;                ///< The representative of a set that went into another,
    bool joined;                    ///< or a class
    std::optional<Bytes> required;  ///< that insisted on this alignment.
    Outline before = {};            ///< Of the other set.
  };

  /// Whether `bytes` of `part` are bytes of `whole`, directly or through others.
  [[nodiscard]] bool is_part(ClassId part, ByteRange bytes, ClassId whole) const;
  /// Whether two that share bytes, while both are needed as far as their entries say, may.
  [[nodiscard]] bool may_meet(const RectangleIndex::Rectangle& a, const RectangleIndex::Rectangle& b) const;
  [[nodiscard]] bool is_class(MemberId member) const { return member < classes_.size(); }
  [[nodiscard]] const std::optional<AlignedTarget>& target(MemberId member) const {
    return others_[member - classes_.size()];
  }
  [[nodiscard]] bool is_current(std::size_t set, const RectangleIndex::Rectangle& entry) const;
  /// Calls `f(entry)` for what the member occupies when its lowest byte is at `offset`, until that is true.
  template <class F>
  bool any_entry(MemberId member, Bytes offset, F&& f) const;

  [[nodiscard]] bool meets(std::size_t set, MemberId member, Bytes offset) const;
  [[nodiscard]] bool collide(std::size_t to, std::size_t from, Bytes shift) const;
  [[nodiscard]] bool is_aligned_together(const Set& a, const Set& b, Bytes shift) const;
  [[nodiscard]] Bytes alignment_of(ClassId id) const;
  [[nodiscard]] std::optional<Bytes> required(ClassId id) const;
  void set_required(ClassId id, std::optional<Bytes> alignment);
  void change_alignment(std::size_t set, Bytes before, Bytes after);
  void merge(std::size_t to, std::size_t from, Bytes shift);
  void take_back(const Change& change);
  void add_to_index(Set& set, MemberId member, Bytes offset);
  void index_anew(std::size_t set);
  MemberId add_member(std::optional<AlignedTarget> target);
  void remove_last_member();
  void build_storage(const Set& set, Assembled& result) const;
  void build_packing(ClassId id, Assembled& result) const;

  const ByClass<AliasClass>& classes_;
  const ByClass<Life>& lives_;
  std::size_t streams_;
  RevocableUnion places_;
  std::vector<Set> sets_;                             ///< By representative.
  std::vector<MemberId> next_;                        ///< By member: the next one of its set.
  std::vector<std::optional<AlignedTarget>> others_;  ///< Members that are no classes; nothing: where a set began.
  std::map<ClassId, std::vector<Whole>> wholes_;
  std::map<ClassId, Bytes> required_;
  std::map<std::pair<ClassId, ClassId>, std::vector<Step>> hand_overs_;
  std::optional<std::vector<Change>> changes_;  ///< Since `begin`.
  std::size_t members_at_begin_ = 0;
};

/// Whether two lists of ascending intervals have a step in common other than those `allowed` (ascending).
[[nodiscard]] bool overlap_beside(std::span<const Interval> a, std::span<const Interval> b,
                                  std::span<const Step> allowed);

}  // namespace stowage::layout
