#include "layout/loop_layout.hpp"

#include <algorithm>
#include <map>

namespace stowage::layout {
namespace {

class LoopLayout {
 public:
  LoopLayout(const StorageInput& input, const ByClass<Residence>& residences, Assembly& assembly, ScopeId id)
      : input_(input),
        graph_(input.graph),
        residences_(residences),
        assembly_(assembly),
        scope_(input.graph.scope(id)),
        id_(id) {
    for (const BodyInput& pair : scope_.inputs) outers_.emplace(pair.inner, pair.outer);
  }

  /// Declares where values are handed over. All loops do this before any is joined, because one may depend on the
  /// hand-over of another.
  void declare() {
    for (const Carried& pair : scope_.carried) {
      const ClassPlace in = place(pair.in);
      const ClassPlace from = place(outer_of(pair.in));
      const ClassPlace out = place(pair.out);
      if (may_come_in(from.id, in.id)) {
        for (const Interval& span : spans()) assembly_.hand_over(from.id, in.id, from.offset - in.offset, span.lower);
      }
      if (!may_go_around(out.id, in.id)) continue;
      for (const Step end : ends()) assembly_.hand_over(out.id, in.id, out.offset - in.offset, end);
      if (input_.uses_pairs() && !input_.demands[out.id].has(Demand::filled)) allow_in_place(pair);
    }
  }

  void run(std::vector<PlannedCopy>& copies) {
    // What would be copied in each iteration comes first.
    for (const Carried& pair : scope_.carried) send_around(pair, copies);
    for (const Carried& pair : scope_.carried) bring_in(pair.in, copies);
  }

 private:
  [[nodiscard]] const ClassPlace& place(TensorId tensor) const { return input_.place(tensor); }
  [[nodiscard]] bool ours(ClassId id) const { return residences_[id] == Residence::shared; }
  [[nodiscard]] std::span<const Interval> spans() const { return input_.timeline.spans(scope_.op); }

  [[nodiscard]] TensorId outer_of(TensorId inner) const { return outers_.at(inner); }
  [[nodiscard]] bool may_come_in(ClassId from, ClassId in) const {
    return from != in && ours(from) && ours(in) && is_over_before(from, in);
  }
  [[nodiscard]] bool may_go_around(ClassId out, ClassId in) const {
    return out != in && ours(out) && ours(in) && follows(out, in);
  }

  /// Puts the value from outside where the loop carries it, or copies it.
  void bring_in(TensorId inner, std::vector<PlannedCopy>& copies) {
    const TensorId outer = outer_of(inner);
    const ClassPlace from = place(outer);
    const ClassPlace to = place(inner);
    if (from.id == to.id && from.offset == to.offset) return;
    if (may_come_in(from.id, to.id) && assembly_.join(from.id, to.id, to.offset - from.offset)) return;
    const Scope& outside = graph_.scope(scope_.parent);
    copies.push_back({.scope = scope_.parent,
                      .before = static_cast<std::int64_t>(scope_.op.index() - outside.first_op.index()),
                      .tensor = outer,
                      .to = to,
                      .reason = "the loop overwrites it, and its value is needed later or has its own address"});
  }

  /// Makes an iteration write its value where the next one reads it, or copies it.
  void send_around(const Carried& pair, std::vector<PlannedCopy>& copies) {
    const ClassPlace out = place(pair.out);
    const ClassPlace in = place(pair.in);
    if (out.id == in.id && out.offset == in.offset) return;
    if (may_go_around(out.id, in.id) && assembly_.join(out.id, in.id, in.offset - out.offset)) return;
    copies.push_back({.scope = id_,
                      .before = -1,
                      .tensor = pair.out,
                      .to = in,
                      .reason = "the iteration still reads the incoming value when it writes the outgoing one"});
  }

  /// The steps at which iterations end: the one before the op's last step.
  [[nodiscard]] std::vector<Step> ends() const {
    std::vector<Step> result;
    for (const Interval& span : spans()) result.push_back(span.upper - Step(2));
    return result;
  }

  /// With several streams: whether in every run each access to `earlier` happens before each access to `later`, except
  /// for accesses by the loop itself.
  [[nodiscard]] bool is_over_before(ClassId earlier, ClassId later) const {
    if (input_.order.streams() == 1) return true;
    const auto batch = [&](Step step) { return input_.timeline.at(step).batch; };
    for (const Step a : input_.accesses[earlier]) {
      for (const Step b : input_.accesses[later]) {
        const bool excluded = batch(a) != 0 && batch(b) != 0 && batch(a) != batch(b);
        if (!excluded && a != b && !input_.order.before(a, b)) return false;
      }
    }
    return true;
  }

  /// With several streams: whether in the body every access to `later` happens after every access to `earlier`.
  [[nodiscard]] bool follows(ClassId later, ClassId earlier) const {
    if (input_.order.streams() == 1) return true;
    const std::vector<Step> ends = this->ends();
    const auto is_end = [&](Step step) { return std::find(ends.begin(), ends.end(), step) != ends.end(); };
    for (const Step b : input_.accesses[later]) {
      for (const Step a : input_.accesses[earlier]) {
        const bool outside = is_end(a) || is_end(b) || !is_inside(a);
        if (!outside && a != b && !input_.order.before(a, b)) return false;
      }
    }
    return true;
  }

  /// Whether the step is one of the body, not the loop's entry or exit.
  [[nodiscard]] bool is_inside(Step step) const {
    return std::any_of(spans().begin(), spans().end(),
                       [&](const Interval& span) { return step > span.lower && step + Step(1) < span.upper; });
  }

  /// An op inside the loop, however deep, that writes the outgoing value may overwrite the incoming one if its in-place
  /// pairs allow that and it reads the incoming value in no other way.
  void allow_in_place(const Carried& pair) {
    const ClassPlace in = place(pair.in);
    const ClassPlace out = place(pair.out);
    for (std::size_t k = scope_.first_op.index(); k < graph_.ops().size(); ++k) {
      const Op& op = graph_.ops()[k];
      if (op.in_place.empty() || op.no_task || !is_in_body(OpId(k))) continue;
      for (std::uint32_t position = 0; position < op.outputs.size(); ++position) {
        const ClassPlace at = place(op.outputs[position]);
        if (at.id != out.id || at.offset != out.offset) continue;
        if (!reads_only_in_place(op, position, in) || writes_beside(op, op.outputs[position], in.id, out.id)) continue;
        for (const Interval& span : input_.timeline.spans(OpId(k)))
          assembly_.hand_over(out.id, in.id, out.offset - in.offset, span.lower);
      }
    }
  }

  [[nodiscard]] bool is_in_body(OpId op) const {
    ScopeId scope = graph_.scope_of(op);
    while (scope.index() > id_.index()) scope = graph_.scope(scope).parent;
    return scope == id_;
  }

  [[nodiscard]] bool reads_only_in_place(const Op& op, std::uint32_t output, ClassPlace in) const {
    for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
      if (!op.inputs[i] || place(*op.inputs[i]).id != in.id) continue;
      const bool paired =
          std::find(op.in_place.begin(), op.in_place.end(), InPlacePair{output, i}) != op.in_place.end();
      const bool same_size = graph_.tensor(*op.inputs[i]).size >= graph_.tensor(op.outputs[output]).size;
      if (!paired || place(*op.inputs[i]).offset != in.offset || !same_size) return false;
    }
    return true;
  }

  [[nodiscard]] bool writes_beside(const Op& op, TensorId written, ClassId in, ClassId out) const {
    return std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId output) {
      return output != written && (place(output).id == in || place(output).id == out);
    });
  }

  const StorageInput& input_;
  const Graph& graph_;
  const ByClass<Residence>& residences_;
  Assembly& assembly_;
  const Scope& scope_;
  ScopeId id_;
  std::map<TensorId, TensorId> outers_;  ///< By input of the body: the outer tensor.
};

}  // namespace

std::vector<PlannedCopy> lay_out_loops(const StorageInput& input, const ByClass<Residence>& residences,
                                       Assembly& assembly) {
  const auto each_loop = [&](const auto& f) {
    // From the innermost loops outwards, so that the layout of an inner loop is known to the loop around it.
    for (std::size_t s = input.graph.scopes().size(); s-- > 1;) {
      if (!input.graph.scopes()[s].carried.empty()) f(LoopLayout(input, residences, assembly, ScopeId(s)));
    }
  };
  std::vector<PlannedCopy> copies;
  each_loop([](LoopLayout loop) { loop.declare(); });
  each_loop([&](LoopLayout loop) { loop.run(copies); });
  return copies;
}

}  // namespace stowage::layout
