#pragma once

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "layout/interface/layout.hpp"
#include "layout/rectangle_index.hpp"
#include "layout/revocable_union.hpp"
#include "layout/stages.hpp"
#include "liveness/interface/lives.hpp"

namespace stowage::layout {

/// Bytes that hold copies for an op to read.
struct AlignedTarget {
  CopyTarget target;
  Bytes alignment;  ///< The alignment of the first byte.
};

/// A set that has become a storage.
struct BuiltSet {
  StorageId storage;
  Bytes lowest;  ///< Where the storage begins, in the offsets of `Assembly::where`.
};

/// The result of an assembly.
struct Assembled {
  std::vector<Storage> storages;
  ByClass<ClassPosition> positions;
  std::vector<std::optional<BuiltSet>> sets;  ///< By set; nothing for a single class.
};

/// Puts classes at fixed distances from each other, provided that no two that are needed at the same time share bytes.
///
/// A set will become one storage: classes and copy targets with fixed offsets relative to each other. When two sets are
/// joined, every pair of members that would share bytes is checked. Two members may share bytes if one is a part of the
/// other (packed), if they are never needed at the same step, or if they are both needed only at steps at which one
/// hands its bytes over to the other. With several streams "never at the same step" proves nothing, so there one must
/// come before the other, or hand its bytes over around a loop. Bytes that are kept apart are never shared.
///
/// The members of the smaller set are looked up in an index of the larger one and then added to it. So each member
/// moves O(log n) times in total, and a join costs O(log n) lookups per member, plus the pairs that do share bytes at
/// one step.
class Assembly {
 public:
  /// Both arguments must outlive the assembly.
  Assembly(const StorageInput& input, const ByClass<Life>& lives);

  /// Where the lowest byte of a class lies in its set. Offsets in one set are comparable with each other.
  struct PlaceInSet {
    std::size_t set;
    Bytes offset;
  };
  [[nodiscard]] PlaceInSet where(ClassId id);

  /// Like `join(part, whole, distance)`, where the bytes `of_part`, counted from the lowest byte of `part`, are also
  /// bytes of `whole`. The part then requires only its own alignment, not that of its memory. Precondition: not between
  /// `begin` and `keep`.
  [[nodiscard]] bool join_part(ClassId part, ByteRange of_part, ClassId whole, Bytes distance);
  /// Bytes of a class that are also bytes of a whole.
  struct Part {
    ClassId id;
    ByteRange bytes;  ///< Counted from the lowest byte of the class.
    Bytes distance;   ///< From the lowest byte of the whole to that of the class.
  };
  /// `join_part` for several parts of one whole together, which already lie as the whole needs them. A class may occur
  /// more than once.
  [[nodiscard]] bool join_parts(std::span<const Part> parts, ClassId whole);
  /// Like `join`, but the lowest byte of `a` must also be at a multiple of `alignment`.
  [[nodiscard]] bool join_aligned(ClassId a, ClassId b, Bytes distance, Bytes alignment);
  /// Makes the class require this alignment. Returns false, and changes nothing, if its offset in the set does not
  /// allow it.
  [[nodiscard]] bool require(ClassId id, Bytes alignment);
  /// Must be called after the life of the class has changed. O(members of its set).
  void lives_changed(ClassId id);
  /// Declares that at `step` one of the two classes hands its bytes over to the other, provided that the lowest byte of
  /// `b` lies `distance` bytes after that of `a`.
  void hand_over(ClassId a, ClassId b, Bytes distance, Step step);
  /// Declares that these bytes of two classes, counted from their lowest, are never the same ones. Must be called
  /// before any join.
  void keep_apart(ClassId a, ByteRange of_a, ClassId b, ByteRange of_b);
  /// From now on the padding behind a class counts as kept apart too, if the bytes before it are.
  void count_paddings() { counts_paddings_ = input_.options.padding == Padding::own; }

  /// Puts the lowest byte of `a` `distance` bytes after that of `b`. Returns false, and changes nothing, if that
  /// contradicts earlier joins, breaks an alignment, or makes two members share bytes that must not.
  [[nodiscard]] bool join(ClassId a, ClassId b, Bytes distance);
  /// Adds all targets to a set; their bytes are offsets as in `where`. Returns false, and changes nothing, if one
  /// overlaps another member or breaks an alignment. Precondition: the targets do not overlap each other.
  [[nodiscard]] bool add_copies(std::size_t set, std::vector<AlignedTarget> targets);
  /// Adds a set without classes, for copies that an op reads; their offsets begin at 0.
  [[nodiscard]] std::size_t add_set(const CopyHome& home);

  /// Starts a transaction. Until `keep`, all joins, requirements and copies can be undone together. Not nestable.
  void begin();
  /// Undoes everything since `begin`. Precondition: `begin` was called.
  void undo();
  /// Makes everything since `begin` permanent. Precondition: `begin` was called.
  void keep();

  /// Turns every set of more than one member into a storage.
  [[nodiscard]] Assembled build();

 private:
  /// Members are numbered: first the classes by their ids, then copy targets and the starts of sets without classes.
  using MemberId = std::size_t;
  static constexpr MemberId kNone = std::numeric_limits<MemberId>::max();

  /// Summary of a set; offsets are relative to its representative.
  struct Outline {
    MemberId first = kNone;  ///< The others follow it in `next_`. kNone: the set has not been used yet.
    MemberId last = kNone;
    std::size_t rank = 0;  ///< The order of the storages.
    Bytes lowest = kMaxBytes;
    std::optional<CopyHome> home = {};  ///< Of a set that began without classes.
  };
  struct Set {
    Outline outline = {};
    std::map<Bytes, std::size_t> alignments = {};  ///< How many members require each alignment.
    RectangleIndex index = {};                     ///< May still contain members that have left.
    std::size_t left = 0;                          ///< How many these are, at most.
  };

  /// A class that contains some bytes of another one, its part.
  struct Whole {
    ClassId id;
    Bytes distance;   ///< From the lowest byte of this class to that of the part.
    ByteRange bytes;  ///< These bytes of the part, counted from its lowest.
  };

  /// Bytes of a class that must not be those of another one.
  struct Apart {
    ByteRange mine;
    ClassId other;
    ByteRange theirs;
  };

  /// A change that can be undone.
  struct Change {
    MemberId member;                ///< The representative of a set that was merged, or a class.
    bool joined;                    ///< Whether it was a merge; otherwise the class requires another alignment.
    std::optional<Bytes> required;  ///< The alignment that the class required before.
    Outline before = {};            ///< Of the set that `member` was merged into.
  };

  /// Whether `bytes` of `part` are bytes of `whole`, directly or through other parts.
  [[nodiscard]] bool is_part(ClassId part, ByteRange bytes, ClassId whole) const;
  [[nodiscard]] bool are_apart_in_time(MemberId a, MemberId b) const;
  /// Whether two entries that overlap in bytes and steps are allowed to.
  [[nodiscard]] bool may_meet(const RectangleIndex::Rectangle& a, const RectangleIndex::Rectangle& b) const;
  [[nodiscard]] bool is_class(MemberId member) const { return member < classes_.size(); }
  [[nodiscard]] const std::optional<AlignedTarget>& target(MemberId member) const {
    return others_[member - classes_.size()];
  }
  [[nodiscard]] bool is_current(std::size_t set, const RectangleIndex::Rectangle& entry) const;
  /// Calls `f(entry)` for each rectangle that the member occupies if its lowest byte is at
  /// `offset`, until it returns true.
  template <class F>
  bool any_entry(MemberId member, Bytes offset, F&& f) const;

  [[nodiscard]] bool meets(std::size_t set, MemberId member, Bytes offset) const;
  [[nodiscard]] bool collide(std::size_t to, std::size_t from, Bytes shift) const;
  /// Whether a member at `offset` shares bytes with one of the set that it is kept apart from.
  [[nodiscard]] bool is_too_close(std::size_t set, MemberId member, Bytes offset) const;
  /// The bytes of a class that are kept apart, with the padding behind them where that counts.
  [[nodiscard]] ByteRange kept_apart(ClassId id, ByteRange bytes) const;
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

  void add_whole(const Part& part, ClassId whole);

  const StorageInput& input_;
  const ByClass<AliasClass>& classes_;
  const ByClass<Life>& lives_;
  std::size_t streams_;
  RevocableUnion places_;
  std::vector<Set> sets_;                             ///< By representative.
  std::vector<MemberId> next_;                        ///< By member: the next one of its set.
  std::vector<std::optional<AlignedTarget>> others_;  ///< Members other than classes; nothing: the start of a set.
  std::map<ClassId, std::vector<Whole>> wholes_;
  std::map<ClassId, Bytes> required_;
  /// By class, later class, and the distance from the former to the latter.
  std::map<std::tuple<ClassId, ClassId, Bytes>, std::vector<Step>> hand_overs_;
  std::map<ClassId, std::vector<Apart>> apart_;
  bool counts_paddings_ = false;
  std::optional<std::vector<Change>> changes_;  ///< Since `begin`.
  std::size_t members_at_begin_ = 0;
};

/// Whether two ascending lists of intervals have a step in common that is not in `allowed` (ascending).
[[nodiscard]] bool overlap_except(std::span<const Interval> a, std::span<const Interval> b,
                                  std::span<const Step> allowed);

}  // namespace stowage::layout
