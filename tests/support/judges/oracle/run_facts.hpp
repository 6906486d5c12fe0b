#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "stowage/plan.hpp"
#include "support/judges/oracle/graph_facts.hpp"

namespace stowage::oracle {

/// What holds in every run of a graph with a plan: where tensors lie, which of them are the same value, and which are
/// parts of others.
/// Memory is examined byte by byte, except that bytes between which nothing in the plan begins or ends are treated as
/// one: a *segment*.
class RunFacts {
 protected:
  using RegionKey = std::pair<std::size_t, std::uint32_t>;  ///< Arena and region.
  using Segment = std::size_t;

  /// Where something lies.
  struct Spot {
    RegionKey region;
    std::int64_t offset = 0;
    std::int64_t size = 0;
    Segment first = 0;  ///< Segments [first, last).
    Segment last = 0;
    [[nodiscard]] bool has(Segment segment) const { return segment >= first && segment < last; }
    [[nodiscard]] bool same_place(const Spot& other) const { return region == other.region && offset == other.offset; }
  };
  /// A value of a packed group that lies in the whole: it is made of it, or the whole is made of it.
  struct Part {
    std::size_t source;
    std::size_t derived;
    OpId op;
    Spot spot;
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  RunFacts(const GraphFacts& facts, const Plan& plan);

  [[nodiscard]] bool is_placed(TensorId tensor) const { return places_[tensor.index()].has_value(); }
  /// In memory of the plan, not bound to a caller's buffer.
  [[nodiscard]] bool is_planned(TensorId tensor) const;
  [[nodiscard]] bool at_one_place(TensorId a, TensorId b) const;
  [[nodiscard]] Spot spot_of(TensorId tensor) const { return places_[tensor.index()].value_or(Spot{}); }
  [[nodiscard]] Spot spot_of(const Copy& copy, Bytes size) const;
  [[nodiscard]] Spot spot_of(const Clear& clear) const;

  [[nodiscard]] std::vector<const Copy*> copies_at(ScopeId scope, CopyMoment when) const;
  [[nodiscard]] std::vector<const Copy*> copies_at(OpId op) const;
  [[nodiscard]] const Copy* copy_at(OpId op, TensorId tensor) const;

  /// Whether the op may overwrite the value `from`, which it reads, with `to` in this segment.
  [[nodiscard]] bool may_overwrite(OpId id, std::size_t from, std::size_t to, Segment segment) const;
  /// A fault if tensors share a byte though the graph keeps them apart.
  [[nodiscard]] std::optional<std::string> not_apart() const;
  /// What is cleared lies where the owner does.
  [[nodiscard]] bool is_filled_kin(std::size_t owner) const;
  /// For a copy of `outer` before a loop: the carried value that it becomes.
  [[nodiscard]] std::optional<TensorId> carried_target(OpId op, TensorId outer, const Spot& to) const;

  [[nodiscard]] static bool meet(const Spot& a, const Spot& b);

  const GraphFacts& facts_;
  const Graph& graph_;
  const Plan& plan_;
  std::size_t segments_ = 0;
  std::vector<std::optional<Spot>> places_;   ///< By tensor and workspace.
  std::vector<std::vector<Spot>> extent_;     ///< By owner, with its padding.
  std::vector<std::optional<Spot>> padding_;  ///< By owner, if it has any.
  std::vector<std::size_t> kin_;  ///< Owners of one number have bytes in common, by what bodies and groups say.
  std::vector<Part> parts_;

 private:
  /// Also that of a view of a tensor whose buffer, the caller's, hosts others. Aliases of such tensors have none.
  [[nodiscard]] Spot spot_or_hosting(TensorId tensor) const;
  /// With the padding behind its owner, if the tensor ends where that begins.
  [[nodiscard]] Spot with_padding(TensorId tensor) const;
  void place(std::size_t number, RegionKey region, Bytes offset, Bytes size);
  void read_plan();
  void cut_into_segments();
  void number_segments(Spot& spot) const;
  void find_extents();
  void find_paddings();
  void find_kin();
  void find_parts();
  void add_part(OpId op, TensorId source, TensorId derived, TensorId part, TensorId whole, std::int64_t offset);

  /// The offsets at which something begins or ends, with the segment that begins at each.
  std::map<RegionKey, std::map<std::int64_t, Segment>> cuts_;
};

}  // namespace stowage::oracle
