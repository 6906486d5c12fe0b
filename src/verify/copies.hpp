#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "verify/findings.hpp"
#include "verify/places.hpp"

namespace stowage::verification {

/// Why a copy is needed.
enum class CopyRole : std::uint8_t {
  none,         ///< It is not needed.
  group_input,  ///< An op reads the copy next to the other inputs of a padded group.
  concat_part,  ///< A part of a packed output. The target is that output.
  split_part,   ///< An output that does not lie in the input of its split. The target is that output.
  carried_in,   ///< For the first iteration of a loop. The target is the value inside.
  body_end,     ///< A result of a body. The target is the op's output.
  back_edge,    ///< For the next iteration of a loop. The target is the incoming value.
};

/// A copy of the plan.
struct CopyEntry {
  TensorId tensor;
  CopyMoment when;
  Place to;
  CopyRole role = CopyRole::none;
  TensorId target = {};

  [[nodiscard]] bool exists() const { return to.cell.has_value(); }
};

/// The copies of the plan, indexed by when they run.
class Copies {
 public:
  /// Reports references to what does not exist, wrong sizes, places outside their regions, and missing reasons. A copy
  /// that refers to something that does not exist is ignored afterwards.
  Copies(const Graph& graph, const Plan& plan, const Cells& cells, Findings& findings);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] const CopyEntry& operator[](std::uint32_t index) const { return entries_[index]; }
  /// In the order of the plan; the same for the following two.
  [[nodiscard]] std::span<const std::uint32_t> before(OpId op) const;
  [[nodiscard]] std::span<const std::uint32_t> at_end(ScopeId body) const {
    return find({body, CopyMoment::at_body_end()});
  }
  [[nodiscard]] std::span<const std::uint32_t> at_back_edge(ScopeId body) const {
    return find({body, CopyMoment::at_back_edge()});
  }

  /// The tensor that a copy reads: of a split's part, the input of the split. Precondition: the copy exists.
  [[nodiscard]] TensorId source(const Graph& graph, std::uint32_t index) const;

  void give_role(std::uint32_t index, CopyRole role, TensorId target) {
    entries_[index].role = role;
    entries_[index].target = target;
  }

 private:
  /// Copies before an op have the root as their body.
  using Point = std::pair<ScopeId, CopyMoment>;

  bool read(const Graph& graph, const Copy& copy, const std::string& who, CopyEntry& entry, Findings& findings);
  [[nodiscard]] std::span<const std::uint32_t> find(const Point& point) const;

  std::vector<CopyEntry> entries_;
  std::map<Point, std::vector<std::uint32_t>> by_point_;
};

}  // namespace stowage::verification
