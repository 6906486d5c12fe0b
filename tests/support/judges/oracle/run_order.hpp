#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/judges/oracle/run_facts.hpp"

namespace stowage::oracle {

/// The events of one run and their order, as sets of predecessors; with one stream the order is total.
class RunOrder : protected RunFacts {
 protected:
  /// The ops of one scope, each time that it runs.
  struct Frame {
    std::set<std::size_t> base;  ///< What comes before all of it.
    std::map<std::size_t, std::size_t> last_on;
    std::map<std::size_t, OpId> producer;
    std::map<std::size_t, std::size_t> event_of;  ///< By op: its last event.
    std::vector<std::size_t> events;
  };

  using RunFacts::RunFacts;

  void forget_events();
  std::size_t add_event(Frame& frame, const std::set<std::size_t>& after);
  /// An event within which copies and clears follow each other.
  std::size_t add_turns(Frame& frame, const std::set<std::size_t>& after);

  [[nodiscard]] bool happens_before(std::size_t a, std::size_t b) const {
    return in_one_row_ ? a < b : before_[b].contains(a);
  }
  /// The same for what happens within one event, too.
  [[nodiscard]] bool is_over(std::size_t a, std::size_t b) const {
    return happens_before(a, b) || (a == b && in_turn_.contains(b));
  }

  /// Whether an edge of the plan orders nothing in any batch that the graph alone does not, or is there twice.
  [[nodiscard]] bool has_needless_edge();
  /// What the op has to wait for.
  [[nodiscard]] std::set<std::size_t> predecessors(const Frame& frame, OpId id) const;

 private:
  void add_sources(const Frame& frame, TensorId tensor, std::set<std::size_t>& visited,
                   std::set<std::size_t>& found) const;

  /// The root's ops of one batch, one event each, without the edges of the plan.
  [[nodiscard]] Frame order_of_graph(const std::string& batch);

  bool with_edges_ = true;
  bool in_one_row_ = graph_.stream_count() == 1;
  std::vector<std::set<std::size_t>> before_;  ///< By event; empty in one row.
  std::set<std::size_t> in_turn_;
};

}  // namespace stowage::oracle
