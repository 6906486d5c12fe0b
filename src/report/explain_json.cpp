#include "files/interface/json_writer.hpp"
#include "report/explanation.hpp"
#include "report/labels.hpp"

namespace stowage {
namespace {

using files::OrderedJson;

OrderedJson bytes_or_null(const std::optional<Bytes>& bytes) {
  return bytes ? OrderedJson(bytes->value()) : OrderedJson();
}

double share_of(Bytes part, Bytes whole) {
  return whole == Bytes(0) ? 0.0 : static_cast<double>(part.value()) / static_cast<double>(whole.value());
}

template <class Entries, class ToJson>
OrderedJson list_json(const Entries& entries, ToJson to_json) {
  OrderedJson list = OrderedJson::array();
  for (const auto& entry : entries) list.push_back(to_json(entry));
  return list;
}

/// In the root, the number only.
OrderedJson tensor_json(const Graph& graph, TensorId id) {
  const BodyPath body = graph.path(graph.scope_of(id));
  if (body.empty()) return report::local_number(graph, id);
  return {{"tensor", report::local_number(graph, id)}, {"body", body}};
}

OrderedJson workspace_json(const Graph& graph, WorkspaceId id) {
  OrderedJson json{{"op", report::local_number(graph, id.op)}, {"index", id.index}};
  const BodyPath body = graph.path(graph.scope_of(id.op));
  if (!body.empty()) json["body"] = body;
  return json;
}

/// `list_json` for entries whose ids are those of a graph.
template <class Entries, class ToJson>
OrderedJson list_json(const Graph& graph, const Entries& entries, ToJson to_json) {
  return list_json(entries, [&](const auto& entry) { return to_json(graph, entry); });
}

OrderedJson steps_json(Interval steps) { return OrderedJson::array({steps.lower.value(), steps.upper.value()}); }

OrderedJson holder_json(const Graph& graph, const Holder& holder) {
  OrderedJson json{{"name", holder.name},
                   {"kind", holder.kind},
                   {"scope", holder.scope},
                   {"family", holder.family},
                   {"bytes", holder.bytes.value()},
                   {"steps", steps_json(holder.life)},
                   {"offset", holder.offset.value()},
                   {"beside", holder.beside}};
  if (holder.workspace) {
    json["workspace"] = workspace_json(graph, *holder.workspace);
  } else {
    json["tensors"] = list_json(graph, holder.tensors, tensor_json);
  }
  return json;
}

OrderedJson peak_json(const Graph& graph, const Peak& peak, Bytes whole) {
  const auto share_json = [&](const Share& share) {
    return OrderedJson{{"word", share.word},
                       {"bytes", share.bytes.value()},
                       {"share", share_of(share.bytes, whole)},
                       {"holders", share.holders}};
  };
  const auto held_json = [&](const Holder& holder) {
    OrderedJson json = holder_json(graph, holder);
    json["share"] = share_of(holder.bytes, whole);
    json["gain_bytes"] = bytes_or_null(holder.gain);
    return json;
  };
  return {{"steps", steps_json(peak.steps)},
          {"at", peak.at.value()},
          {"op", peak.op},
          {"kind", peak.kind},
          {"scope", peak.layer},
          {"source", peak.source},
          {"live_bytes", peak.live.value()},
          {"holder_count", peak.holder_count},
          {"holders", list_json(peak.holders, held_json)},
          {"by_kind", list_json(peak.by_kind, share_json)},
          {"by_scope", list_json(peak.by_scope, share_json)}};
}

OrderedJson story_json(const Graph& graph, const ArenaStory& arena) {
  return {{"name", arena.name},
          {"memory", arena.memory},
          {"kind", to_string(arena.kind)},
          {"size", arena.size.value()},
          {"lower_bound", arena.lower_bound.value()},
          {"live_bytes", arena.live.value()},
          {"concurrent", arena.concurrent},
          {"peak_count", arena.peak_count},
          {"fullest", arena.fullest},
          {"peaks", list_json(arena.peaks, [&](const Peak& peak) { return peak_json(graph, peak, arena.size); })},
          {"map_at_peak", arena.map_at_peak},
          {"map_of_time", arena.map_of_time}};
}

OrderedJson gain_json(const Graph& graph, const Gain& gain) {
  return {{"gain_bytes", gain.gain.value()},
          {"peak_bytes", gain.peak.value()},
          {"proven", gain.proven},
          {"then", gain.then},
          {"smallest", gain.smallest},
          {"holders", list_json(graph, gain.holders, holder_json)},
          {"alone", list_json(gain.alone, bytes_or_null)},
          {"tensors", list_json(graph, gain.tensors, tensor_json)},
          {"workspaces", list_json(graph, gain.workspaces, workspace_json)}};
}

OrderedJson cost_json(const Cost& cost) {
  return {{"constraint", cost.constraint},
          {"without", cost.without},
          {"cost_bytes", bytes_or_null(cost.cost)},
          {"peak_bytes", bytes_or_null(cost.peak)},
          {"proven", cost.proven}};
}

OrderedJson budget_json(const Graph& graph, const BudgetAnswer& answer) {
  return {{"budget_bytes", answer.budget.value()},
          {"capacity_bytes", bytes_or_null(answer.asked.peak)},
          {"capacity_total_bytes", bytes_or_null(answer.asked.total)},
          {"fits", answer.fits},
          {"constraints", answer.constraints},
          {"together", answer.together},
          {"together_peak_bytes", bytes_or_null(answer.together_peak)},
          {"shrink", answer.shrink ? gain_json(graph, *answer.shrink) : OrderedJson()},
          {"reason", answer.reason}};
}

OrderedJson largest_op_json(const std::optional<LargestOp>& op) {
  if (!op) return {};
  return {{"name", op->name}, {"kind", op->kind}, {"step", op->step.value()}, {"bytes", op->bytes.value()}};
}

}  // namespace

std::string explanation_to_json(const Explanation& explanation) {
  const Summary& summary = explanation.summary;
  const ExplanationDetails& details = *explanation.details;
  const OrderedJson json{{"schema", "stowage.explain/1"},
                         {"name", summary.name},
                         {"cause", explanation.cause},
                         {"ops", summary.ops},
                         {"tensors", summary.tensors},
                         {"peak_bytes", summary.peak.value()},
                         {"lower_bound_bytes", summary.lower_bound.value()},
                         {"naive_bytes", summary.naive.value()},
                         {"weights_bytes", summary.weights.value()},
                         {"folded_bytes", summary.folded.value()},
                         {"total_bytes", summary.total.value()},
                         {"proven_optimal", summary.proven_optimal},
                         {"largest_op", largest_op_json(details.largest_op)},
                         {"within", details.within},
                         {"arenas", list_json(details.graph, details.arenas, story_json)},
                         {"gains", list_json(details.graph, details.gains, gain_json)},
                         {"costs", list_json(details.costs, cost_json)},
                         {"budget", details.budget ? budget_json(details.graph, *details.budget) : OrderedJson()},
                         {"replans", explanation.replans},
                         {"skipped", explanation.skipped}};
  return files::to_line(json) + "\n";
}

}  // namespace stowage
