#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "stowage/verify.hpp"
#include "support/generators/careless_plan.hpp"

namespace stowage::testing {

/// All plans that differ from a given one only in where the parts of one arena lie. `verify` alone says which of them
/// are valid.
///
/// Whether two parts may lie at some distance is asked with all others out of the way. Then all positions are tried,
/// part by part, as long as each two may lie as they do, and what is complete is verified as a whole. That finds every
/// valid plan, because moving something away never makes a valid plan invalid. For some seven parts and ten positions.
class EveryPlan {
 public:
  struct Options {
    ArenaId arena{0};
    Bytes unit{1};  ///< Offsets and sizes are multiples of it.
    VerifyOptions rules = {};
  };

  /// `parts`: what lies where in `plan`. The arena has one region.
  EveryPlan(const Graph& graph, Plan plan, const std::vector<RigidPart>& parts, const Options& options);

  [[nodiscard]] std::size_t part_count() const { return parts_.size(); }
  /// The size of the largest part: no arena is smaller.
  [[nodiscard]] Bytes largest() const { return Bytes(parts_.empty() ? 0 : parts_.front().size); }

  /// The first valid plan whose arena has `room` bytes.
  [[nodiscard]] std::optional<Plan> find(Bytes room);
  /// The size of the smallest arena, if it has less than `below` bytes; else none.
  [[nodiscard]] std::optional<Bytes> least(Bytes below);

 private:
  /// Positions are of its lowest byte.
  struct Part {
    RigidPart entries;
    std::int64_t lower;  ///< In the given plan.
    std::int64_t size;
  };

  [[nodiscard]] Part measured(const RigidPart& part) const;
  [[nodiscard]] Plan made(const std::vector<std::int64_t>& positions, Bytes room) const;
  [[nodiscard]] bool is_valid(const Plan& plan) const;
  [[nodiscard]] bool may_lie(std::size_t part, std::int64_t position);
  [[nodiscard]] bool is_allowed(std::size_t part, std::size_t other, std::int64_t distance);
  bool place(std::size_t next, Bytes room);

  const Graph& graph_;
  Plan plan_;
  Options options_;
  std::vector<Part> parts_;  ///< Of the arena, the largest first. Empty ones stay where they are.
  std::vector<std::int64_t> positions_;
  std::optional<Plan> found_;
  /// By part, and by earlier part and its distance.
  std::vector<std::map<std::pair<std::size_t, std::int64_t>, bool>> allowed_;
};

}  // namespace stowage::testing
