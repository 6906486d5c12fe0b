#pragma once

#include "graph/interface/groups.hpp"
#include "layout/assembly.hpp"
#include "layout/derivations.hpp"
#include "layout/stages.hpp"

namespace stowage::layout {

/// Lays contiguous groups out in an assembly, and notes the copies that this needs.
///
/// Outputs come first, because they cannot be replaced by copies. Then the inputs are laid out, op by op. Each member
/// already has an offset in some set, which implies where the group would begin there. The members vote, and the
/// beginning that gets the most bytes wins. The other members are then joined to it one by one; those that cannot be
/// joined are copied. So the cheaper side is copied. Members that are to be copied (`StorageInput::copied`) neither
/// vote nor are joined.
class GroupLayout {
 public:
  /// All arguments must outlive it. Changes the tenancy of a part of a constant or variable that cannot lie in it.
  GroupLayout(const StorageInput& input, Tenancy& tenancy, Assembly& assembly);

  void run();
  /// Makes the n-th groups of a kind begin at the same offset in all batches. Precondition: `run` was called.
  void align_batches();
  /// Puts the small (fused) inputs next to each other.
  void fuse_inputs();
  struct Copies {
    std::vector<PlannedCopy> into_classes;
    std::vector<PlannedCopy> into_storages;
  };
  /// The copies that the layout needs. Precondition: `built` is a result of the same assembly.
  [[nodiscard]] Copies take_copies(const std::vector<std::optional<BuiltSet>>& built);
  [[nodiscard]] std::vector<LayoutNote> take_notes() { return std::move(notes_); }
  [[nodiscard]] CopiedMembers take_refused() { return std::move(refused_); }

 private:
  /// A place in a set: `offset` from the lowest byte of a class in it, or from the start of a set without classes.
  struct Anchor {
    std::optional<ClassId> id;
    std::size_t set = 0;
    Bytes offset;
  };
  /// A copy whose place is known only relative to an anchor.
  struct AnchoredCopy {
    PlannedCopy copy;
    Anchor at;
  };
  /// Members in one set that imply the same beginning of the group.
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
  [[nodiscard]] bool lies_there(const Group& group, const GroupMember& member) const;
  [[nodiscard]] const char* join_part(const Group& group, const GroupMember& member);
  void lay_split(const Group& group);
  void lay_outputs(const Group& group);
  void lay_inputs(const Group& group);
  void lay_concat(const Group& group);
  [[nodiscard]] Assembly::Part part_of(const Group& group, const GroupMember& member) const;
  [[nodiscard]] Derivation derivation_of(const Group& group, const Assembly::Part& part) const;
  [[nodiscard]] bool lies_right(const Group& group, const Vote& vote);
  [[nodiscard]] std::vector<const Group*> input_groups_by_runs() const;
  [[nodiscard]] std::vector<Vote> vote(const Group& group);
  [[nodiscard]] const char* obstacle(const Group& group, const GroupMember& member) const;
  [[nodiscard]] bool follow(const Group& group, const Vote& leader, const GroupMember& member);
  /// Makes the op read copies of these members. Returns false, and changes nothing, if there is no room for them.
  [[nodiscard]] bool copy_members(const Group& group, const std::vector<const GroupMember*>& members,
                                  const Anchor& base);
  /// The set of an anchor, and the anchor's offset in it.
  [[nodiscard]] Assembly::PlaceInSet resolve(const Anchor& anchor);
  void copy_all(const Group& group);
  [[nodiscard]] std::size_t number_of(const Group& group, const GroupMember& member) const;
  [[nodiscard]] std::vector<Interval> lives_of(const Group& group, const GroupMember& member) const;
  void copy_into_whole(const Group& group, const GroupMember& member, const char* reason);
  [[nodiscard]] const ClassPlace& place(TensorId id) const { return input_.place(id); }
  [[nodiscard]] Residence residence(ClassId id) const { return tenancy_.residences[id]; }
  void make_shared(ClassId id);

  const StorageInput& input_;
  const Graph& graph_;
  Tenancy& tenancy_;
  Assembly& assembly_;
  ByClass<int> writers_;  ///< How many task ops write the class.
  Derivations derivations_;
  Copies copies_;
  std::vector<AnchoredCopy> anchored_;
  std::vector<Laid> laid_;
  std::vector<LayoutNote> notes_;
  CopiedMembers refused_;
};

}  // namespace stowage::layout
