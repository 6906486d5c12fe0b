#include "verify/order.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "verify/predecessors.hpp"

namespace stowage::verification {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Order::Order(const Schedule& schedule) {
  if (schedule.graph.has_bodies()) find_scopes(schedule.graph);
  number_streams(schedule);
  if (streams_ > 1) run_clocks(schedule);
}

void Order::find_scopes(const Graph& graph) {
  scope_of_.resize(graph.ops().size());
  for (std::uint32_t s = 0; s < graph.scopes().size(); ++s) {
    const Scope& scope = graph.scopes()[s];
    owner_.push_back(static_cast<std::uint32_t>(scope.op.index()));
    depth_.push_back(s == 0 ? 0 : depth_[scope.parent.index()] + 1);
    std::fill_n(scope_of_.begin() + static_cast<std::ptrdiff_t>(scope.first_op.index()), scope.op_count, s);
  }
}

void Order::number_streams(const Schedule& schedule) {
  const Graph& graph = schedule.graph;
  streams_ = 1;
  if (graph.stream_count() == 1) return;
  streams_ = 0;
  std::vector<std::uint32_t> number(graph.stream_count(), kNone);
  stream_of_.resize(graph.ops().size());
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (!schedule.tasks[k] || !is_active(op, schedule.batch)) continue;
    // `stream_count` does not include streams that only copies use.
    if (op.stream.index() >= number.size()) number.resize(op.stream.index() + 1, kNone);
    std::uint32_t& own = number[op.stream.index()];
    if (own == kNone) own = static_cast<std::uint32_t>(streams_++);
    stream_of_[k] = own;
  }
  streams_ = std::max<std::size_t>(streams_, 1);
}

void Order::run_clocks(const Schedule& schedule) {
  const Graph& graph = schedule.graph;
  clocks_.assign(graph.ops().size() * streams_, -1);
  Predecessors predecessors(schedule);
  for (const Scope& scope : graph.scopes()) {
    std::vector<std::uint32_t> last_on(streams_, kNone);
    const auto first = static_cast<std::uint32_t>(scope.first_op.index());
    for (std::uint32_t k = first; k < first + scope.op_count; ++k) {
      if (predecessors.runs(k)) {
        std::uint32_t& last = last_on[stream_of_[k]];
        if (last != kNone) follow(k, last);
        last = k;
        predecessors.visit(k, [&](std::uint32_t earlier) { follow(k, earlier); });
      }
      predecessors.pass(k);
    }
  }
}

void Order::follow(std::size_t later, std::size_t earlier) {
  std::int64_t* const clock = &clocks_[later * streams_];
  const std::int64_t* const from = &clocks_[earlier * streams_];
  for (std::size_t s = 0; s < streams_; ++s) clock[s] = std::max(clock[s], from[s]);
  std::int64_t& on_its_stream = clock[stream_of_[earlier]];
  on_its_stream = std::max(on_its_stream, static_cast<std::int64_t>(earlier));
}

bool Order::in_one_scope(Moment a, Moment b) const {
  if (a.op == b.op)
    return a.phase < b.phase || (a.phase == b.phase && (a.phase == Phase::before || a.phase == Phase::inside));
  if (streams_ == 1) return a.op < b.op;
  return clocks_[b.op * streams_ + stream_of_[a.op]] >= static_cast<std::int64_t>(a.op);
}

bool Order::happens_before(Moment a, Moment b) const {
  if (!scope_of_.empty()) {
    while (depth_[scope_of_[a.op]] > depth_[scope_of_[b.op]]) a = outside(a);
    while (depth_[scope_of_[b.op]] > depth_[scope_of_[a.op]]) b = outside(b);
    while (scope_of_[a.op] != scope_of_[b.op]) {
      a = outside(a);
      b = outside(b);
    }
  }
  return in_one_scope(a, b);
}

bool Order::is_within(std::uint32_t op, std::uint32_t scope) const {
  if (scope == 0) return true;
  std::uint32_t at = scope_of_[op];
  while (depth_[at] > depth_[scope]) at = scope_of_[owner_[at]];
  return at == scope;
}

}  // namespace stowage::verification
