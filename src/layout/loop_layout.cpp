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

  /// States where values are handed over. All loops do before any joins: one may depend on the hand-over of another.
  void declare() {
    find_writers();
    for (const Carried& pair : scope_.carried) {
      const ClassPlace in = place(pair.in);
      const ClassPlace from = place(outer_of(pair.in));
      const ClassPlace out = place(pair.out);
      if (may_come_in(from.id, in.id)) {
        for (const Interval& span : spans()) assembly_.hand_over(from.id, in.id, span.lower);
      }
      if (!may_go_around(out.id, in.id)) continue;
      for (const Step end : ends()) assembly_.hand_over(out.id, in.id, end);
      if (input_.uses_pairs() && !input_.demands[out.id].has(Demand::filled)) allow_in_place(pair);
    }
  }

  void run(std::vector<PlannedCopy>& copies) {
    for (const Carried& pair : scope_.carried) {
      bring_in(pair.in, copies);
      send_around(pair, copies);
    }
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

  /// Lets the value from outside lie where the loop carries it.
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
                      .reason = "the loop overwrites it, and its value is needed later or has an address of its own"});
  }

  /// Lets the value of one iteration be written where the next reads it.
  void send_around(const Carried& pair, std::vector<PlannedCopy>& copies) {
    const ClassPlace out = place(pair.out);
    const ClassPlace in = place(pair.in);
    if (out.id == in.id && out.offset == in.offset) return;
    if (may_go_around(out.id, in.id) && assembly_.join(out.id, in.id, in.offset - out.offset)) return;
    copies.push_back(
        {.scope = id_,
         .before = -1,
         .tensor = pair.out,
         .to = in,
         .reason = "the iteration still reads the value that came in when it writes the one that goes out"});
  }

  /// The steps at which iterations end: one before the op's last.
  [[nodiscard]] std::vector<Step> ends() const {
    std::vector<Step> result;
    for (const Interval& span : spans()) result.push_back(span.upper - Step(2));
    return result;
  }

  /// On several streams: in every run, each access of `earlier` happens before each of `later`, except for the loop's
  /// own.
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

  /// On several streams: in the body, every access of `later` happens after every one of `earlier`.
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

  [[nodiscard]] bool is_inside(Step step) const {
    return std::any_of(spans().begin(), spans().end(),
                       [&](const Interval& span) { return step > span.lower && step < span.upper; });
  }

  void find_writers() {
    for (const Carried& pair : scope_.carried) writers_[pair.out];
    for (std::size_t k = 0; k < scope_.op_count; ++k) {
      const OpId id(scope_.first_op.index() + k);
      const Op& op = graph_.op(id);
      for (std::uint32_t i = 0; i < op.outputs.size() && !op.no_task; ++i) {
        if (const auto found = writers_.find(op.outputs[i]); found != writers_.end()) found->second.push_back({id, i});
      }
    }
  }

  /// The op that writes the value may do so over the one that came in, where its pairs say so and it reads it in no
  /// other way.
  void allow_in_place(const Carried& pair) {
    const ClassPlace in = place(pair.in);
    for (const auto& [id, position] : writers_[pair.out]) {
      const Op& op = graph_.op(id);
      if (!reads_only_in_place(op, position, in) || writes_beside(op, pair.out, in.id)) continue;
      for (const Interval& span : input_.timeline.spans(id)) assembly_.hand_over(place(pair.out).id, in.id, span.lower);
    }
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

  [[nodiscard]] bool writes_beside(const Op& op, TensorId out, ClassId in) const {
    return std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId output) {
      return output != out && (place(output).id == in || place(output).id == place(out).id);
    });
  }

  const StorageInput& input_;
  const Graph& graph_;
  const ByClass<Residence>& residences_;
  Assembly& assembly_;
  const Scope& scope_;
  ScopeId id_;
  struct Writer {
    OpId op;
    std::uint32_t output;
  };
  std::map<TensorId, TensorId> outers_;              ///< What the body's inputs are outside.
  std::map<TensorId, std::vector<Writer>> writers_;  ///< Who writes what is carried out.
};

}  // namespace

std::vector<PlannedCopy> lay_out_loops(const StorageInput& input, const ByClass<Residence>& residences,
                                       Assembly& assembly) {
  const auto each_loop = [&](const auto& f) {
    // From the inside out: what an inner loop carries is then in one place when the loop around it looks.
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
