#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/judges/oracle/run_marks.hpp"

namespace stowage::oracle {

/// Runs a graph with a plan in every possible way: each batch, each body of each branch, zero, one and two iterations
/// of each loop. Each run is a single path, so no states need to be merged.
class Runs : private RunMarks {
 public:
  Runs(const GraphFacts& facts, const Plan& plan, bool keep_inputs)
      : RunMarks(facts, plan), keep_inputs_(keep_inputs) {}

  /// The first fault of any run, or none. Gives up, and sets `gave_up`, if there are too many possible runs.
  std::optional<std::string> judge(std::size_t max_runs);
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  struct Choice {
    std::size_t taken;
    std::size_t count;
  };

  // ------------------------------------------------------------------------------------------------------------- ways
  std::size_t choose(std::size_t count);
  bool next_way();
  void run(const std::string& batch);

  // ------------------------------------------------------------------------------------------------------------ start
  void find_absent();
  void find_touched();
  void start();
  void check_end();
  [[nodiscard]] bool is_absent(TensorId tensor) const { return absent_.contains(graph_.root(tensor).tensor.index()); }
  /// The op until which an unread input is needed.
  [[nodiscard]] std::size_t first_task() const;
  [[nodiscard]] bool has_needless_clear() const;

  // -------------------------------------------------------------------------------------------------------------- ops
  void run_scope(ScopeId id, Frame& frame);
  void run_op(OpId id, Frame& frame);
  void release(OpId id, std::optional<std::size_t> event);
  std::size_t run_task(OpId id, std::size_t now);
  /// Whether it only makes others of what is there.
  [[nodiscard]] static bool is_packed(const Op& op);
  void access_copy(const Copy& copy, std::size_t now);
  void run_copy(const Copy& copy, OpId op, std::size_t now);

  // ----------------------------------------------------------------------------------------------------------- bodies
  void hand_over(TensorId from, TensorId to, std::size_t now);
  std::size_t run_bodies(OpId id, Frame& frame, std::size_t now);
  void run_loop(OpId id, Frame& frame, std::set<std::size_t>& base);
  void run_body(OpId id, ScopeId body, Frame& frame, std::set<std::size_t>& base);
  void end_body(OpId id, ScopeId body, std::size_t now);
  [[nodiscard]] std::optional<TensorId> target_at_end(const Scope& scope, bool loop, TensorId tensor,
                                                      const Spot& to) const;

  bool keep_inputs_;
  std::vector<Choice> choices_;
  std::size_t depth_ = 0;
  std::set<std::size_t> absent_;      ///< Roots that have no value in this batch.
  std::vector<bool> touched_now_;     ///< By owner.
  std::vector<std::size_t> waiting_;  ///< Writers of inputs that nobody reads.
  std::map<const Copy*, std::size_t> copy_writer_;
  bool gave_up_ = false;
};

}  // namespace stowage::oracle
