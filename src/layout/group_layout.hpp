#pragma once

#include "graph/interface/groups.hpp"
#include "layout/assembly.hpp"
#include "layout/stages.hpp"

namespace stowage::layout {

/// Lays contiguous groups out in an assembly, and notes the copies that this needs.
///
/// Outputs first: nothing can stand in for them. Then inputs, op by op. The members of a group lie in sets already;
/// each says where the group would begin. In every set the beginning that most bytes vote for wins, then the sets join,
/// the one with the most bytes first: whoever cannot follow is copied, so that of two sides the cheaper one is.
class GroupLayout {
 public:
  /// All must outlive it. Where a part of a constant cannot lie in it, its tenancy changes.
  GroupLayout(const StorageInput& input, Tenancy& tenancy, Assembly& assembly);

  void run();
  /// Lets the n-th groups of a kind begin at one offset in all batches. Precondition: `run`.
  void align_batches();
  /// Small inputs next to each other.
  void fuse_inputs();
  struct Copies {
    std::vector<PlannedCopy> into_classes;
    std::vector<PlannedCopy> into_storages;
  };
  /// What it takes to be copied. Precondition: `built` is of the same assembly.
  [[nodiscard]] Copies take_copies(const std::vector<std::optional<BuiltSet>>& built);
  [[nodiscard]] std::vector<LayoutNote> take_notes() { return std::move(notes_); }

 private:
  /// A place in a set: `offset` from the lowest byte of a class of it, or from the start of a set that has none.
  struct Anchor {
    std::optional<ClassId> id;
    std::size_t set = 0;
    Bytes offset;
  };
  /// A copy whose place is known relative to an anchor only.
  struct AnchoredCopy {
    PlannedCopy copy;
    Anchor at;
  };
  /// Members that lie in one set and agree where the group begins.
  struct Vote {
    std::size_t set;
    Bytes base;
    Bytes bytes;
    std::vector<const GroupMember*> members;
  };
  struct Laid {
    const Group* group;
    Anchor base;
  };

  [[nodiscard]] bool is_rewritten(const Group& group, ClassId part, ClassId whole) const;
  void lay_split(const Group& group);
  void lay_outputs(const Group& group);
  void lay_inputs(const Group& group);
  void lay_concat(const Group& group);
  [[nodiscard]] std::vector<Vote> vote(const Group& group);
  [[nodiscard]] const char* obstacle(const Group& group, const GroupMember& member) const;
  [[nodiscard]] bool follow(const Group& group, const Vote& leader, const GroupMember& member);
  /// Lets the op read copies of these members. False, and nothing changes, when there is no room for them.
  [[nodiscard]] bool copy_members(const Group& group, const std::vector<const GroupMember*>& members,
                                  const Anchor& base);
  /// The set of an anchor, and where it lies there.
  [[nodiscard]] Assembly::PlaceInSet resolve(const Anchor& anchor);
  void copy_all(const Group& group);
  [[nodiscard]] std::vector<Interval> lives_of(OpId op) const;
  [[nodiscard]] const ClassPlace& place(TensorId id) const { return input_.place(id); }
  [[nodiscard]] Residence residence(ClassId id) const { return tenancy_.residences[id]; }
  void make_shared(ClassId id);

  const StorageInput& input_;
  const Graph& graph_;
  Tenancy& tenancy_;
  Assembly& assembly_;
  ByClass<int> writers_;  ///< How many tasks write it.
  Copies copies_;
  std::vector<AnchoredCopy> anchored_;
  std::vector<Laid> laid_;
  std::vector<LayoutNote> notes_;
};

}  // namespace stowage::layout
