#include "liveness/interface/accesses.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "liveness/interface/touches.hpp"

namespace stowage {
namespace {

/// Whether a class has a value in a batch.
class Presence {
 public:
  Presence(const Graph& graph, const Sharing& sharing)
      : batches_(graph.batches().size()), present_(sharing.class_count() * batches_) {
    if (batches_ == 0) return;
    for (std::size_t c = 0; c < sharing.class_count(); ++c) {
      if (sharing.flags[ClassId(c)].any_of(kOwnAddress | TensorFlag::input)) add(ClassId(c), "", graph);
    }
    for (const Op& op : graph.ops()) {
      for (const TensorId output : op.outputs) add(sharing.class_of(output), op.batch, graph);
    }
    // The loop itself writes what it carries.
    for (const Scope& scope : graph.scopes()) {
      for (const Carried& pair : scope.carried) add(sharing.class_of(pair.in), graph.op(scope.op).batch, graph);
    }
  }

  /// `batch` as in `Moment`.
  [[nodiscard]] bool operator()(ClassId id, std::uint32_t batch) const {
    return batch == 0 || present_[id.index() * batches_ + batch - 1];
  }

 private:
  void add(ClassId id, const std::string& label, const Graph& graph) {
    for (std::size_t b = 0; b < batches_; ++b) {
      if (label.empty() || graph.batches()[b] == label) present_[id.index() * batches_ + b] = true;
    }
  }

  std::size_t batches_;
  std::vector<bool> present_;  ///< Row-major, class × batch.
};

using UnreadInputs = std::map<std::size_t, std::vector<TensorId>>;  // by the step at which they count as read

/// Whether inputs that nobody reads are needed until this moment. With several streams they count as read by the first
/// task op, because overwriting the caller's value is only safe after something that runs. With one stream that is op
/// 0, and in the run of a batch without op 0 they are needed at the start only.
bool ends_unread_inputs(const Graph& graph, const Moment& moment) {
  if (moment.kind == Moment::Kind::start || moment.kind == Moment::Kind::copy) return false;
  return graph.stream_count() == 1 ? moment.op == OpId(0) : !graph.op(moment.op).no_task;
}

/// Inputs that no op accesses in the run of some batch.
UnreadInputs unread_inputs(const Graph& graph, const Sharing& sharing, const Timeline& timeline) {
  UnreadInputs unread;
  if (graph.batches().empty()) return unread;
  constexpr std::size_t kNever = SIZE_MAX;
  // By batch, and 0 for what all have in common.
  std::vector<std::size_t> first(graph.batches().size() + 1, kNever);
  std::vector<std::set<ClassId>> read(first.size());
  for (std::size_t k = 0; k < timeline.moments.size(); ++k) {
    const Moment& moment = timeline.moments[k];
    if (ends_unread_inputs(graph, moment)) first[moment.batch] = std::min(first[moment.batch], k);
    for_each_touched(graph, moment, [&](TensorId tensor, bool) {
      const ClassId id = sharing.class_of(tensor);
      if (sharing.flags[id].has(TensorFlag::input)) read[moment.batch].insert(id);
    });
  }
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const ClassId id = sharing.class_of(TensorId(t));
    if (!graph.tensors()[t].flags.has(TensorFlag::input) || read[0].contains(id)) continue;
    for (std::size_t batch = 1; batch < first.size(); ++batch) {
      const std::size_t at = std::min(first[0], first[batch]);
      if (at != kNever && !read[batch].contains(id)) unread[at].emplace_back(t);
    }
  }
  return unread;
}

/// What the moments of a timeline access.
class Touched {
 public:
  Touched(const Graph& graph, const Timeline& timeline, const CopiedMembers& copied)
      : graph_(graph), timeline_(timeline), copied_(copied) {}

  /// `for_each_touched`, except that an op does not read the inputs that were copied before it. Its fills are made
  /// before its first copy.
  template <class F>
  void for_each(std::size_t k, F&& f) const {
    const Moment& moment = timeline_.moments[k];
    if (copied_.empty()) return for_each_touched(graph_, moment, [&](TensorId tensor, bool) { f(tensor); });
    if (moment.kind == Moment::Kind::copy) {
      const Op& op = graph_.op(moment.op);
      f(members_of(copied_, moment.op)[moment.copy].tensor);
      if (moment.copy == 1 && op.contiguous_inputs == Contiguity::packed) f(op.outputs.front());
      for (std::size_t o = 0; o < op.zero_fill.outputs.size() && moment.copy == 0; ++o)
        f(op.outputs[op.zero_fill.outputs[o]]);
      return;
    }
    const bool copied = k > 0 && timeline_.moments[k - 1].kind == Moment::Kind::copy;
    for_each_touched(graph_, moment, [&](TensorId tensor, bool writes) {
      if (!copied || writes || !find_copied(copied_, moment.op, tensor)) f(tensor);
    });
  }

 private:
  const Graph& graph_;
  const Timeline& timeline_;
  const CopiedMembers& copied_;
};

}  // namespace

Accesses collect_accesses(const Graph& graph, const Sharing& sharing, const Timeline& timeline,
                          const CopiedMembers& copied) {
  const Presence present(graph, sharing);
  const UnreadInputs unread = unread_inputs(graph, sharing, timeline);
  const Touched touched(graph, timeline, copied);
  const auto visit = [&](auto&& f) {
    ByClass<std::size_t> last(sharing.class_count(), timeline.moments.size());
    for (std::size_t k = 0; k < timeline.moments.size(); ++k) {
      const Moment& moment = timeline.moments[k];
      const auto touch = [&](TensorId tensor) {
        const ClassId id = sharing.class_of(tensor);
        if (last[id] != k && present(id, moment.batch)) f(id.index(), k);
        last[id] = k;
      };
      touched.for_each(k, touch);
      if (const auto found = unread.find(k); found != unread.end())
        std::for_each(found->second.begin(), found->second.end(), touch);
    }
  };
  Accesses result;
  result.begin.assign(sharing.class_count() + 1, 0);
  visit([&](std::size_t c, std::size_t) { ++result.begin[c + 1]; });
  for (std::size_t c = 0; c < sharing.class_count(); ++c) result.begin[c + 1] += result.begin[c];
  result.steps.resize(result.begin.back());
  std::vector<std::size_t> next(result.begin.begin(), result.begin.end() - 1);
  visit([&](std::size_t c, std::size_t k) { result.steps[next[c]++] = Step(static_cast<std::int64_t>(k)); });
  return result;
}

}  // namespace stowage
