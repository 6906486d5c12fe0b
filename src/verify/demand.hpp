#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "verify/conflicts.hpp"
#include "verify/run.hpp"

namespace stowage::verification {

/// Something in a program that others come before or after: an op with the fills and copies before it, or a fill at the
/// start. The ids of fills follow those of the ops.
using ActorId = std::uint32_t;

/// What the program has to do in the runs of one batch, and what must be over when.
///
/// A fill at the start is made where an op needs some of it, a fill before an op where the op runs, a copy where its
/// source has a value, and a binding is checked where something accesses its buffer.
class Demand {
 public:
  /// `met_clears`: which clears ops find as they left them (`walk`).
  Demand(const Facts& facts, const Run& run, const std::vector<bool>& met_clears);

  [[nodiscard]] bool runs(OpId op) const { return tasks_[op.index()] != 0; }
  /// Of a clear at the start.
  [[nodiscard]] bool fills(std::uint32_t clear) const { return fills_[clear]; }
  [[nodiscard]] bool copies(std::uint32_t copy) const { return copies_[copy]; }
  [[nodiscard]] bool uses(std::uint32_t binding) const { return uses_[binding]; }
  void use_all(std::uint32_t binding) { uses_[binding] = true; }

  /// The copies that are made before the op, or at the end of the body; in the order of the plan.
  [[nodiscard]] std::span<const std::uint32_t> copies_before(OpId op) const { return find(copies_before_, op); }
  [[nodiscard]] std::span<const std::uint32_t> copies_at_end(ScopeId body) const { return find(copies_at_end_, body); }

  [[nodiscard]] ActorId actor(OpId op) const { return static_cast<ActorId>(op.index()); }
  [[nodiscard]] ActorId actor(std::uint32_t clear) const { return static_cast<ActorId>(ops_ + clear); }
  [[nodiscard]] std::size_t actors() const { return ops_ + fills_.size(); }
  [[nodiscard]] bool is_fill(ActorId actor) const { return actor >= ops_; }
  [[nodiscard]] std::uint32_t fill_of(ActorId actor) const { return static_cast<std::uint32_t>(actor - ops_); }
  /// What must be over when an actor starts, of its own scope. What follows from the order of its stream may be
  /// missing, except for the op before it there.
  [[nodiscard]] std::span<const ActorId> before(ActorId actor) const {
    return std::span(before_).subspan(begin_[actor], begin_[actor + 1] - begin_[actor]);
  }

 private:
  template <class Key>
  using Lists = std::map<Key, std::vector<std::uint32_t>>;

  template <class Key>
  static std::span<const std::uint32_t> find(const Lists<Key>& lists, Key key) {
    const auto found = lists.find(key);
    return found == lists.end() ? std::span<const std::uint32_t>() : std::span<const std::uint32_t>(found->second);
  }

  void find_copies(const Facts& facts, const Run& run);
  void find_uses(const Facts& facts, const Run& run);
  void find_order(const Facts& facts, const Run& run);
  [[nodiscard]] bool has_one_stream(const Graph& graph) const;

  std::size_t ops_;
  std::vector<std::uint8_t> tasks_;  ///< By op.
  std::vector<bool> fills_;          ///< By clear.
  std::vector<bool> copies_;         ///< By copy.
  std::vector<bool> uses_;           ///< By binding.
  Lists<OpId> copies_before_;
  Lists<ScopeId> copies_at_end_;
  std::vector<std::size_t> begin_;  ///< By actor, and the end: where its part of `before_` begins.
  std::vector<ActorId> before_;
};

}  // namespace stowage::verification
