#include <algorithm>
#include <utility>

#include "alloc/partition/assign.hpp"
#include "alloc/partition/traffic.hpp"
#include "alloc/partition/traffic_count.hpp"

namespace stowage::partitioning {
namespace {

/// How both figures have changed since some point.
struct Change {
  std::ptrdiff_t splits = 0;
  Bytes bytes;

  [[nodiscard]] bool is_gain() const { return splits <= 0 && bytes <= Bytes(0) && (splits < 0 || bytes < Bytes(0)); }
  friend auto operator<=>(const Change&, const Change&) = default;
};

class Improver {
 public:
  Improver(const Model& model, Assignment& assignment)
      : model_(model),
        assignment_(assignment),
        traffic_(model, assignment),
        position_(model.graph->ops().size()),
        moved_in_(model.groups.size()) {
    for (std::size_t i = 0; i < model.task_ops.size(); ++i) position_[model.task_ops[i]] = i;
  }

  /// Returns true if anything changed.
  bool sweep() {
    bool changed = false;
    for (std::size_t i = 1; i < model_.task_ops.size(); ++i) {
      if (at(i - 1) == at(i)) continue;
      changed |= walk(i, +1);
      if (at(i - 1) != at(i)) changed |= walk(i, -1);
    }
    return changed;
  }

 private:
  struct Move {
    std::size_t group;
    std::size_t from;
  };

  [[nodiscard]] std::size_t at(std::size_t position) const {
    return backend_of(model_, model_.task_ops[position], assignment_);
  }

  /// Starts at the boundary before the op at `boundary`. Forward: ops after it move to the backend before it; backward:
  /// the reverse.
  bool walk(std::size_t boundary, int direction) {
    const std::size_t start = direction > 0 ? boundary : boundary - 1;
    const std::size_t from = at(start);
    const std::size_t to = at(direction > 0 ? boundary - 1 : boundary);
    if (to == model_.backends - 1) return false;
    std::vector<Move> moves;
    std::size_t kept = 0;
    Change now;
    Change best;
    ++walk_;
    for (std::size_t i = start; i < model_.task_ops.size(); i += static_cast<std::size_t>(direction)) {
      const std::size_t group = *model_.group_of_op[model_.task_ops[i]];
      if (std::exchange(moved_in_[group], walk_) == walk_) continue;
      if (assignment_[group] != from || !model_.groups[group].allowed[to]) break;
      const Change change = move(group, to);
      now = {now.splits + change.splits, now.bytes + change.bytes};
      moves.push_back({group, from});
      if (!now.is_gain() || now >= best) continue;
      best = now;
      kept = moves.size();
    }
    for (; moves.size() > kept; moves.pop_back()) (void)move(moves.back().group, moves.back().from);
    return kept > 0;
  }

  Change move(std::size_t group, std::size_t to) {
    const std::ptrdiff_t before = boundaries_of(group);
    const std::size_t from = std::exchange(assignment_[group], to);
    return {boundaries_of(group) - before, traffic_.moved(group, from)};
  }

  /// The number of split boundaries right before or after an op of the group.
  [[nodiscard]] std::ptrdiff_t boundaries_of(std::size_t group) const {
    std::ptrdiff_t count = 0;
    std::size_t counted = 0;  // the boundary after the previous op of the group
    for (const std::size_t op : model_.groups[group].ops) {
      const std::size_t i = position_[op];
      if (i > 0 && i != counted && at(i - 1) != at(i)) ++count;
      if (i + 1 < model_.task_ops.size() && at(i) != at(i + 1)) ++count;
      counted = i + 1;
    }
    return count;
  }

  const Model& model_;
  Assignment& assignment_;
  TrafficCount traffic_;
  std::vector<std::size_t> position_;  ///< By op: its index among task ops.
  std::size_t walk_ = 0;
  std::vector<std::size_t> moved_in_;  ///< By group: the last walk that reached it.
};

}  // namespace

void improve(const Model& model, Assignment& assignment) {
  if (model.backends < 2 || !traffic_is_countable(model)) return;
  Improver improver(model, assignment);
  for (int sweep = 0; sweep < kMaxSweeps && improver.sweep(); ++sweep) {
  }
}

}  // namespace stowage::partitioning
