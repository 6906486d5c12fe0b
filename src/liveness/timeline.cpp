#include "liveness/interface/timeline.hpp"

#include <algorithm>
#include <cstddef>

/// Lays the ops out in time.
///
/// Bodies are laid out one after another inside their op. Batches: everything from the first op with a label to the
/// last op that accesses a class which exists in some batches only is laid out once per batch, without the ops of other
/// batches. So both become exclusive parts, and one definition of "is needed" covers both.
namespace stowage {
namespace {

/// Half-open.
struct OpRange {
  std::size_t begin;
  std::size_t end;
};

class TimelineBuilder {
 public:
  TimelineBuilder(const Graph& graph, const CopiedMembers& copied)
      : graph_(graph), copied_(copied), spans_(graph.ops().size()) {}

  Timeline run(OpRange batched) {
    result_.branching = graph_.has_bodies() || !graph_.batches().empty();
    add_root({0, batched.begin}, 0, result_.whole);
    if (batched.begin == 0 && batched.end > 0) result_.moments.push_back({Moment::Kind::start, {}, {}, 0});
    if (batched.begin < batched.end) add_batches(batched);
    add_root({batched.end, graph_.scopes().front().op_count}, 0, result_.whole);
    result_.whole.steps = {Step(0), now()};
    for (const std::vector<Interval>& spans : spans_) {
      result_.span_begin.push_back(result_.span_list.size());
      result_.span_list.insert(result_.span_list.end(), spans.begin(), spans.end());
    }
    result_.span_begin.push_back(result_.span_list.size());
    return std::move(result_);
  }

  /// A faster `run` for graphs without bodies, batches and copied members.
  Timeline run_without_branches() {
    const std::size_t count = graph_.ops().size();
    result_.moments.reserve(count);
    result_.span_list.reserve(count);
    result_.span_begin.reserve(count + 1);
    for (std::size_t k = 0; k < count; ++k) {
      result_.span_begin.push_back(k);
      result_.span_list.push_back({now(), now() + Step(1)});
      result_.moments.push_back({Moment::Kind::op, OpId(k), ScopeId(0), 0});
    }
    result_.span_begin.push_back(count);
    result_.whole.steps = {Step(0), now()};
    return std::move(result_);
  }

 private:
  [[nodiscard]] Step now() const { return Step(static_cast<std::int64_t>(result_.moments.size())); }

  void add_batches(OpRange batched) {
    Exclusive batches{{now(), now()}, {}};
    for (std::uint32_t batch = 1; batch <= graph_.batches().size(); ++batch) {
      Stretch part{{now(), now()}, {}};
      add_root(batched, batch, part);
      part.steps.upper = now();
      batches.parts.push_back(std::move(part));
    }
    batches.steps.upper = now();
    result_.whole.inside.push_back(std::move(batches));
  }

  void add_root(OpRange range, std::uint32_t batch, Stretch& stretch) {
    for (std::size_t k = range.begin; k < range.end; ++k) {
      const std::string& label = graph_.ops()[k].batch;
      if (!label.empty() && label != graph_.batches()[batch - 1]) continue;
      add_op(OpId(k), ScopeId(0), batch, stretch);
    }
  }

  void add_op(OpId op, ScopeId scope, std::uint32_t batch, Stretch& stretch) {
    const bool reads_copies = graph_.op(op).contiguous_inputs != Contiguity::none;
    const std::size_t copies = reads_copies ? members_of(copied_, op).size() : 0;
    for (std::uint32_t c = 0; c < copies; ++c) result_.moments.push_back({Moment::Kind::copy, op, scope, batch, c});
    const Step begin = now();
    const std::span<const ScopeId> bodies = graph_.bodies(op);
    result_.moments.push_back({bodies.empty() ? Moment::Kind::op : Moment::Kind::enter, op, scope, batch});
    if (!bodies.empty()) {
      add_bodies(op, bodies, batch, stretch);
      result_.moments.push_back({Moment::Kind::exit, op, scope, batch});
    }
    spans_[op.index()].push_back({begin, now()});
  }

  void add_bodies(OpId op, std::span<const ScopeId> bodies, std::uint32_t batch, Stretch& stretch) {
    if (bodies.size() == 1) return add_body(op, bodies.front(), batch, stretch);
    Exclusive branch{{now(), now()}, {}};
    for (const ScopeId body : bodies) {
      Stretch part{{now(), now()}, {}};
      add_body(op, body, batch, part);
      part.steps.upper = now();
      branch.parts.push_back(std::move(part));
    }
    branch.steps.upper = now();
    stretch.inside.push_back(std::move(branch));
  }

  void add_body(OpId op, ScopeId body, std::uint32_t batch, Stretch& stretch) {
    const Scope& scope = graph_.scope(body);
    for (std::size_t k = 0; k < scope.op_count; ++k) add_op(OpId(scope.first_op.index() + k), body, batch, stretch);
    result_.moments.push_back({Moment::Kind::body_end, op, body, batch});
  }

  const Graph& graph_;
  const CopiedMembers& copied_;
  Timeline result_;
  std::vector<std::vector<Interval>> spans_;  ///< By op.
};

/// By class: whether it exists in some batches only, because all its writers have labels.
ByClass<char> depends_on_batch(const Graph& graph, const Sharing& sharing) {
  ByClass<char> labelled(sharing.class_count());
  ByClass<char> common(sharing.class_count());
  for (const Op& op : graph.ops()) {
    for (const TensorId output : op.outputs) (op.batch.empty() ? common : labelled)[sharing.class_of(output)] = 1;
  }
  for (std::size_t c = 0; c < sharing.class_count(); ++c) {
    const ClassId id(c);
    const bool given = sharing.flags[id].any_of(kOwnAddress | TensorFlag::input);
    if (common[id] != 0 || given) labelled[id] = 0;
  }
  return labelled;
}

OpRange batched_ops(const Graph& graph, const Sharing& sharing) {
  const std::size_t count = graph.scopes().front().op_count;
  if (graph.batches().empty()) return {count, count};
  const ByClass<char> depends = depends_on_batch(graph, sharing);
  const auto touches = [&](TensorId tensor) { return depends[sharing.class_of(tensor)] != 0; };
  OpRange range{count, 0};
  for (std::size_t k = 0; k < count; ++k) {
    const Op& op = graph.ops()[k];
    const bool inside =
        !op.batch.empty() || std::any_of(op.outputs.begin(), op.outputs.end(), touches) ||
        std::any_of(op.inputs.begin(), op.inputs.end(), [&](const auto& input) { return input && touches(*input); });
    if (!inside) continue;
    range.begin = std::min(range.begin, k);
    range.end = k + 1;
  }
  for (std::size_t c = 0; c < sharing.class_count(); ++c) {
    if (depends[ClassId(c)] != 0 && sharing.flags[ClassId(c)].has(TensorFlag::output)) range.end = count;
  }
  return range;
}

}  // namespace

Timeline make_timeline(const Graph& graph, const Sharing& sharing, const CopiedMembers& copied) {
  const bool branching = graph.has_bodies() || !graph.batches().empty();
  TimelineBuilder builder(graph, copied);
  return branching || !copied.empty() ? builder.run(batched_ops(graph, sharing)) : builder.run_without_branches();
}

Timeline run_of(const Timeline& timeline, std::uint32_t batch) {
  Timeline run;
  for (Moment moment : timeline.moments) {
    if (moment.batch != 0 && moment.batch != batch) continue;
    moment.batch = 0;
    run.moments.push_back(moment);
  }
  return run;
}

}  // namespace stowage
