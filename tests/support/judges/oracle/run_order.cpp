#include "support/judges/oracle/run_order.hpp"

#include <utility>

namespace stowage::oracle {

void RunOrder::forget_events() {
  before_.clear();
  in_turn_.clear();
}

std::size_t RunOrder::add_event(Frame& frame, const std::set<std::size_t>& after) {
  std::set<std::size_t> all;
  if (!in_one_row_) {
    std::set<std::size_t> before = frame.base;
    before.insert(after.begin(), after.end());
    all = before;
    for (const std::size_t event : before) all.insert(before_[event].begin(), before_[event].end());
  }
  before_.push_back(std::move(all));
  frame.events.push_back(before_.size() - 1);
  return before_.size() - 1;
}

std::size_t RunOrder::add_turns(Frame& frame, const std::set<std::size_t>& after) {
  const std::size_t event = add_event(frame, after);
  in_turn_.insert(event);
  return event;
}

void RunOrder::add_sources(const Frame& frame, TensorId tensor, std::set<std::size_t>& visited,
                           std::set<std::size_t>& found) const {
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

std::set<std::size_t> RunOrder::predecessors(const Frame& frame, OpId id) const {
  std::set<std::size_t> found;
  if (in_one_row_) return found;
  const Op& op = graph_.op(id);
  const auto last = frame.last_on.find(op.stream.index());
  if (last != frame.last_on.end()) found.insert(last->second);
  const auto wait_for = [&](OpId other) {
    const auto event = frame.event_of.find(other.index());
    if (event != frame.event_of.end()) found.insert(event->second);
  };
  for (const OpId after : op.after) wait_for(after);
  for (const Edge& edge : plan_.edges) {
    if (with_edges_ && edge.to == id) wait_for(edge.from);
  }
  std::set<std::size_t> visited;
  for (const auto& input : op.inputs) {
    if (input) add_sources(frame, *input, visited, found);
  }
  return found;
}

RunOrder::Frame RunOrder::order_of_graph(const std::string& batch) {
  forget_events();
  Frame frame;
  for (std::size_t k = 0; k < graph_.scopes().front().op_count; ++k) {
    const Op& op = graph_.ops()[k];
    if (!op.batch.empty() && op.batch != batch) continue;
    if (!op.no_task || !copies_at(OpId(k)).empty())
      frame.last_on[op.stream.index()] = frame.event_of[k] = add_event(frame, predecessors(frame, OpId(k)));
    for (const TensorId output : op.outputs) frame.producer[output.index()] = OpId(k);
  }
  return frame;
}

bool RunOrder::has_needless_edge() {
  std::set<Edge> needed;
  std::vector<std::string> batches(graph_.batches().begin(), graph_.batches().end());
  if (batches.empty()) batches.emplace_back();
  with_edges_ = false;
  for (const std::string& batch : batches) {
    const Frame frame = order_of_graph(batch);
    for (const Edge& edge : plan_.edges) {
      const auto from = frame.event_of.find(edge.from.index());
      const auto to = frame.event_of.find(edge.to.index());
      if (from == frame.event_of.end() || to == frame.event_of.end()) continue;
      if (!happens_before(from->second, to->second)) needed.insert(edge);
    }
  }
  with_edges_ = true;
  return needed.size() < plan_.edges.size();
}

}  // namespace stowage::oracle
