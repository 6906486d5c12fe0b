#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "support/generators/op_drafter.hpp"

namespace stowage::testing {

/// Draws ops with bodies.
class BodyDrafter {
 public:
  explicit BodyDrafter(OpDrafter& outside) : outside_(outside), scope_(outside.scope_), dice_(outside.dice_) {}

  void add_op();

 private:
  /// A body under construction.
  struct Draft {
    explicit Draft(ScopeDraft& around) : scope(around.world(), around.depth() + 1), ops(scope) {}
    ScopeDraft scope;
    OpDrafter ops;
    Body body;
    std::map<std::size_t, std::size_t> families = {};  ///< By family outside: the one inside.
  };

  void choose_inputs();
  void add_branch_outputs();
  void add_body();
  void add_loop();

  TensorId pass_in(Draft& draft, TensorId outer);
  TensorId carry_in(Draft& draft, TensorId outer);
  void carry_out(Draft& draft, TensorId in);
  [[nodiscard]] TensorId result_for(Draft& draft, TensorId outer);
  [[nodiscard]] std::vector<TensorId> possible_results(Draft& draft, TensorId outer);
  void add_ops(Draft& draft);
  void close(Draft& draft);

  OpDrafter& outside_;
  ScopeDraft& scope_;
  Dice& dice_;
  Op op_;
  std::set<std::size_t> written_;        ///< Families outside that bodies write.
  std::set<std::size_t> frozen_;         ///< Families outside that share bytes with others.
  std::set<std::size_t> packed_;         ///< Families outside that a body packs.
  std::set<TensorId> used_;              ///< In the body that is drawn now: results.
  std::set<std::size_t> used_families_;  ///< Theirs.
};

}  // namespace stowage::testing
