#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "liveness/interface/touches.hpp"
#include "report/labels.hpp"
#include "report/page_plan.hpp"

namespace stowage::report {
namespace {

std::int64_t role_of(const Tensor& tensor, bool stays) {
  const auto role = tensor.flags.has(TensorFlag::constant)   ? TensorRole::constant
                    : tensor.flags.has(TensorFlag::variable) ? TensorRole::variable
                    : tensor.flags.has(TensorFlag::output)   ? TensorRole::output
                    : tensor.flags.has(TensorFlag::input)    ? TensorRole::input
                                                             : TensorRole::ordinary;
  return static_cast<std::int64_t>(role) + (stays ? static_cast<std::int64_t>(TensorRole::stays) : 0);
}

/// Calls `f(tensor, writes)` for each tensor that an op accesses at a step, passes on as a view, or passes into a body.
template <class F>
void for_each_used(const Graph& graph, const Moment& moment, F f) {
  if (moment.kind == Moment::Kind::op) {
    const Op& op = graph.op(moment.op);
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) f(*input, false);
    }
    for (const TensorId output : op.outputs) f(output, true);
    return;
  }
  for_each_touched(graph, moment, f);
  if (moment.kind != Moment::Kind::enter) return;
  for (const ScopeId body : graph.bodies(moment.op)) {
    for (const BodyInput& pair : graph.scope(body).inputs) f(pair.inner, true);
  }
}

std::string label_of(const Graph& graph, const Moment& moment) {
  const std::string op = name_of(graph, moment.op);
  return moment.kind == Moment::Kind::copy ? fmt::format("copy for {}", op) : op;
}

void add_ops(PlanData& data, const Graph& graph, const Timeline& timeline) {
  for (std::size_t step = 0; step < static_cast<std::size_t>(data.steps); ++step) {
    const std::vector<Moment>& moments = timeline.moments;
    const bool runs = step < moments.size() && moments[step].kind != Moment::Kind::start;
    const Op* const op = runs ? &graph.op(moments[step].op) : nullptr;
    data.ops.name.push_back(op ? data.strings.number(label_of(graph, moments[step])) : 0);
    data.ops.kind.push_back(op ? data.strings.number(op->kind) : 0);
    data.ops.layer.push_back(op ? data.strings.number(op->layer) : 0);
    data.ops.source.push_back(op ? data.strings.number(op->source) : 0);
    data.ops.stream.push_back(op ? static_cast<std::int64_t>(op->stream.index()) : -1);
  }
}

void add_tensors(PlanData& data, const Graph& graph, const Analysis& analysis) {
  const std::size_t count = graph.tensors().size();
  TensorColumns& columns = data.tensors;
  for (std::size_t t = 0; t < count; ++t) {
    const Tensor& tensor = graph.tensors()[t];
    columns.name.push_back(data.strings.number(name_of(graph, TensorId(t))));
    columns.type.push_back(data.strings.number(tensor.dtype));
    columns.shape.push_back(data.strings.number(fmt::format("{}", fmt::join(tensor.shape, "x"))));
    columns.size.push_back(tensor.size.value());
    const ClassId id = analysis.layout.class_of(TensorId(t));
    const bool stays = analysis.liveness.lives[id].sides.after || analysis.layout.demands[id].has(Demand::whole_run);
    columns.role.push_back(role_of(tensor, stays));
  }
  columns.holder.assign(count, -1);
  columns.producer.assign(count, -1);
  columns.read_count.assign(count, 0);
}

void add_uses(PlanData& data, const Graph& graph, const Timeline& timeline) {
  std::vector<std::pair<std::size_t, std::int64_t>> reads;  // tensor and step
  std::vector<std::int64_t> last(graph.tensors().size(), -1);
  for (std::size_t k = 0; k < timeline.moments.size(); ++k) {
    const auto step = static_cast<std::int64_t>(k);
    for_each_used(graph, timeline.moments[k], [&](TensorId id, bool writes) {
      std::int64_t& producer = data.tensors.producer[id.index()];
      if (writes && producer < 0) producer = step;
      if (writes || last[id.index()] == step) return;
      last[id.index()] = step;
      reads.emplace_back(id.index(), step);
      ++data.tensors.read_count[id.index()];
    });
  }
  std::sort(reads.begin(), reads.end());
  for (const auto& [tensor, step] : reads) data.reads.push_back(step);
}

}  // namespace

void add_graph(PlanData& data, const Graph& graph, const Analysis& analysis) {
  const Timeline& timeline = analysis.liveness.timeline;
  data.steps = timeline.horizon().value();
  data.strings.reserve(graph.ops().size() + 2 * graph.tensors().size());
  add_ops(data, graph, timeline);
  add_tensors(data, graph, analysis);
  add_uses(data, graph, timeline);
}

std::int64_t step_of(const Timeline& timeline, OpId op) {
  const std::span<const Interval> spans = timeline.spans(op);
  return spans.empty() ? -1 : spans.front().lower.value();
}

PageArena page_arena(const Arena& arena, std::string memory) {
  return {.name = arena.name,
          .memory = std::move(memory),
          .kind = arena.kind,
          .size = arena.size,
          .lower_bound = arena.lower_bound,
          .proven_optimal = arena.proven_optimal,
          .regions = arena.regions};
}

std::string_view kind_of_given(const Tensor& tensor) {
  if (tensor.flags.has(TensorFlag::constant)) return "constant";
  if (tensor.flags.has(TensorFlag::variable)) return "variable";
  return tensor.flags.has(TensorFlag::input) ? "input" : "";
}

}  // namespace stowage::report
