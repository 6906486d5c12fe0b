#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "support/judges/run_facts.hpp"

namespace stowage::oracle {

/// The events of one run and which of them come before which, as sets of predecessors.
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

  std::size_t add_event(Frame& frame, const std::set<std::size_t>& after) {
    std::set<std::size_t> before = frame.base;
    before.insert(after.begin(), after.end());
    std::set<std::size_t> all = before;
    for (const std::size_t event : before) all.insert(before_[event].begin(), before_[event].end());
    before_.push_back(std::move(all));
    frame.events.push_back(before_.size() - 1);
    return before_.size() - 1;
  }

  [[nodiscard]] bool happens_before(std::size_t a, std::size_t b) const { return before_[b].contains(a); }
  /// The same for what happens within one event, where copies and clears follow each other.
  [[nodiscard]] bool is_over(std::size_t a, std::size_t b) const {
    return happens_before(a, b) || (a == b && in_turn_.contains(b));
  }

  std::size_t add_turns(Frame& frame, const std::set<std::size_t>& after) {
    const std::size_t event = add_event(frame, after);
    in_turn_.insert(event);
    return event;
  }

  void add_sources(const Frame& frame, TensorId tensor, std::set<std::size_t>& visited, std::set<std::size_t>& found) const {
    if (!visited.insert(tensor.index()).second) return;
    if (const auto& view = graph_.tensor(tensor).view_of) add_sources(frame, view->tensor, visited, found);
    const auto producer = frame.producer.find(tensor.index());
    if (producer == frame.producer.end()) return;
    const auto event = frame.event_of.find(producer->second.index());
    if (event != frame.event_of.end()) {
      found.insert(event->second);
      return;
    }
    const Op& op = graph_.op(producer->second);
    for (const Alias& alias : op.aliases) {
      if (op.outputs[alias.output] == tensor) add_sources(frame, *op.inputs[alias.input], visited, found);
    }
    if (op.contiguous_inputs != Contiguity::packed && op.contiguous_outputs != Contiguity::packed) return;
    for (const auto& input : op.inputs) {
      if (input) add_sources(frame, *input, visited, found);
    }
  }

  std::set<std::size_t> predecessors(const Frame& frame, OpId id) const {
    const Op& op = graph_.op(id);
    std::set<std::size_t> found;
    const auto last = frame.last_on.find(op.stream.index());
    if (last != frame.last_on.end()) found.insert(last->second);
    for (const OpId after : op.after) {
      if (frame.event_of.contains(after.index())) found.insert(frame.event_of.at(after.index()));
    }
    for (const Edge& edge : plan_.edges) {
      if (edge.to == id && frame.event_of.contains(edge.from.index())) found.insert(frame.event_of.at(edge.from.index()));
    }
    std::set<std::size_t> visited;
    for (const auto& input : op.inputs) {
      if (input) add_sources(frame, *input, visited, found);
    }
    if (graph_.stream_count() == 1 && !frame.events.empty()) found.insert(frame.events.back());
    return found;
  }

  std::vector<std::set<std::size_t>> before_;  ///< By event.
  std::set<std::size_t> in_turn_;
};

}  // namespace stowage::oracle
