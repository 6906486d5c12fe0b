#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/judges/shadow/layout.hpp"

namespace stowage::testing {

/// Finds where a plan places everything, before memory is allocated, and reports errors.
class Locator {
 public:
  Locator(const Graph& graph, const Plan& plan, const Families& families, Bytes granularity,
          std::vector<std::string>& findings);

  [[nodiscard]] Site tensor(TensorId id) const;
  [[nodiscard]] Site workspace(OpId op, std::uint32_t index) const;
  /// Any range that the plan names, for messages called `name`.
  [[nodiscard]] Site range(ArenaId arena, std::uint32_t region, ByteRange bytes, const std::string& name) const;
  /// `size` bytes at `offset` of the space of `anchor`.
  [[nodiscard]] Site beside(const Site& anchor, std::int64_t offset, Bytes size, const std::string& name) const;

  [[nodiscard]] const std::vector<Space>& spaces() const { return spaces_; }
  Site complain(std::string finding) const;

 private:
  void add_arenas();
  void add_bindings();
  void add_externals();
  void read_placements();
  void read_workspaces();
  [[nodiscard]] std::vector<bool> free_alignments() const;
  [[nodiscard]] Site bound(TensorId id) const;
  [[nodiscard]] Site at(std::size_t space, std::int64_t offset, Bytes size, const std::string& name) const;

  const Graph& graph_;
  const Plan& plan_;
  const Families& families_;
  Bytes granularity_;
  bool constants_;  ///< They have bytes.
  std::vector<std::string>& findings_;
  std::vector<Space> spaces_;
  std::vector<std::size_t> first_space_;                           ///< By arena.
  std::map<std::size_t, std::pair<TensorId, std::size_t>> bound_;  ///< By family: the bound tensor and its space.
  std::map<std::size_t, std::size_t> external_;                    ///< By family: its space.
  std::vector<const Placement*> places_;                           ///< By tensor.
  std::map<std::pair<OpId, std::uint32_t>, const WorkspacePlacement*> workspaces_;
  std::vector<bool> free_alignment_;  ///< By tensor: the memory's alignment does not bind it.
};

}  // namespace stowage::testing
