#include "support/judges/program/program_judge.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "graph/interface/relations.hpp"
#include "support/builders/program_text.hpp"
#include "support/judges/program/host.hpp"
#include "support/judges/shadow/schedule.hpp"

namespace stowage::testing {
namespace {

using Kind = ProgramStep::Kind;
using Number = std::size_t;  // of an instruction

/// Bytes of a region of an arena.
struct Extent {
  std::pair<ArenaId, std::uint32_t> region;
  ByteRange bytes;
};

class Judge {
 public:
  Judge(const Graph& graph, const Plan& plan, std::uint32_t batch, const Submission& submission)
      : graph_(graph), plan_(plan), of_(submission) {
    choice_.batch = batch == 0 ? std::string() : graph.batches()[batch - 1];
    choice_.edges = plan.edges;
    before_op_ = predecessors(graph, choice_);
  }

  std::optional<std::string> run() {
    close();
    if (fault_) return fault_;
    group();
    for (std::size_t v = 0; v < of_.visits.size() && !fault_; ++v) check_visit(v);
    check_fills_at_start();
    check_filled();
    check_bindings();
    return fault_;
  }

 private:
  void say(std::string text) {
    if (!fault_) fault_ = std::move(text);
  }
  [[nodiscard]] std::string name(Number i) const { return line_of(of_.instructions[i].step); }

  // --------------------------------------------------------------------------------------------------------------
  // order

  /// What the streams and events order.
  void close() {
    std::map<StreamId, Number> last_on;
    std::map<std::uint32_t, Number> recorded;
    for (Number i = 0; i < of_.instructions.size(); ++i) {
      const ProgramStep& step = of_.instructions[i].step;
      std::vector<bool>& set = before_.emplace_back(of_.instructions.size());
      if (step.kind == Kind::bind) continue;
      const auto after = [&](Number earlier) {
        set[earlier] = true;
        for (Number k = 0; k < earlier; ++k)
          if (before_[earlier][k]) set[k] = true;
      };
      if (const auto last = last_on.find(step.stream); last != last_on.end()) after(last->second);
      last_on[step.stream] = i;
      if (step.kind == Kind::record) recorded[step.index] = i;
      if (step.kind != Kind::wait) continue;
      const auto record = recorded.find(step.index);
      if (record == recorded.end()) return say(name(i) + " has no record");
      after(record->second);
    }
  }

  void demand(Number a, Number b) {
    if (a >= b || !before_[b][a]) say(fmt::format("{} is not ordered before {}", name(a), name(b)));
  }
  void demand(const std::vector<Number>& a, const std::vector<Number>& b) {
    for (const Number x : a)
      for (const Number y : b) demand(x, y);
  }

  // --------------------------------------------------------------------------------------------------------------
  // visits

  /// What belongs to an op in one visit.
  struct Group {
    std::vector<Number> own;     ///< Fills, copies, the op.
    std::vector<Number> inside;  ///< What its bodies do.
  };

  [[nodiscard]] bool works(Number i) const {
    const Kind kind = of_.instructions[i].step.kind;
    return kind == Kind::fill || kind == Kind::copy || kind == Kind::op;
  }

  void group() {
    for (Number i = 0; i < of_.instructions.size(); ++i) {
      if (!works(i)) continue;
      const auto& [step, visit] = of_.instructions[i];
      const std::optional<OpId> op = op_of(step);
      const bool copy = step.kind == Kind::copy;
      (op ? groups_[{visit, *op}].own : copy ? at_end_[visit] : at_start_).push_back(i);
      if (op && !does_something(*op)) continue;
      for (std::size_t v = visit; v != 0; v = of_.visits[v].outer) {
        in_visit_[v].push_back(i);
        groups_[{of_.visits[v].outer, graph_.scope(of_.visits[v].scope).op}].inside.push_back(i);
      }
    }
  }

  /// The op before which it is made; none of a fill at the start and of copies at the end of a body.
  [[nodiscard]] std::optional<OpId> op_of(const ProgramStep& step) const {
    if (step.kind == Kind::op) return OpId(step.index);
    if (step.kind == Kind::fill) {
      const OpId before = plan_.clears[step.index].before;
      return before == OpId(0) ? std::nullopt : std::optional(before);
    }
    const CopyMoment when = plan_.copies[step.index].when;
    return when.kind == CopyMoment::Kind::before_op ? std::optional(when.op) : std::nullopt;
  }

  void check_visit(std::size_t v) {
    const Scope& scope = graph_.scope(of_.visits[v].scope);
    std::map<StreamId, OpId> last_on;
    for (std::size_t i = 0; i < scope.op_count; ++i) {
      const OpId op(scope.first_op.index() + i);
      const Op& node = graph_.op(op);
      const bool runs = node.batch.empty() || node.batch == choice_.batch;
      check_parts(v, op, runs);
      if (!runs || node.no_task) continue;
      std::set<OpId>& before = direct_[op];
      for (const std::size_t earlier : before_op_[op.index()]) before.insert(OpId(earlier));
      if (const auto last = last_on.find(node.stream); last != last_on.end()) before.insert(last->second);
      for (const OpId earlier : before) demand(work_until(v, earlier), all_of(v, op));
      last_on[node.stream] = op;
    }
    check_end(v);
    if (v == 0) return;
    const auto owner = groups_.find({of_.visits[v].outer, scope.op});
    if (owner != groups_.end() && does_something(scope.op)) demand(owner->second.own, in_visit_[v]);
    if (of_.visits[v].previous != v) demand(in_visit_[of_.visits[v].previous], in_visit_[v]);
  }

  /// Whether an op with bodies does something besides them: copies, or finding out which body runs, or whether again.
  [[nodiscard]] bool does_something(OpId op) const {
    if (graph_.op(op).control == Control::none || graph_.op(op).control == Control::loop) return true;
    if (graph_.bodies(op).size() > 1) return true;
    for (std::uint32_t i = 0; i < plan_.copies.size(); ++i)
      if (plan_.copies[i].when.is_before(op) && is_made(i)) return true;
    return false;
  }

  /// What must be over when the op is: if it does nothing itself, what it comes after too.
  [[nodiscard]] std::vector<Number> work_until(std::size_t visit, OpId op) const {
    if (does_something(op)) return all_of(visit, op);
    std::vector<Number> all = all_of(visit, op);
    const auto before = direct_.find(op);
    for (const OpId earlier : before == direct_.end() ? std::set<OpId>() : before->second) {
      const std::vector<Number> more = work_until(visit, earlier);
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }

  [[nodiscard]] std::vector<Number> all_of(std::size_t visit, OpId op) const {
    const auto found = groups_.find({visit, op});
    if (found == groups_.end()) return {};
    std::vector<Number> all = does_something(op) ? found->second.own : std::vector<Number>();
    all.insert(all.end(), found->second.inside.begin(), found->second.inside.end());
    return all;
  }

  /// Its fills, copies and the op itself are there once, in this order.
  void check_parts(std::size_t visit, OpId op, bool runs) {
    std::vector<std::pair<Kind, std::uint32_t>> expected;
    for (std::uint32_t i = 0; i < plan_.clears.size() && runs && op != OpId(0); ++i)
      if (plan_.clears[i].before == op) expected.emplace_back(Kind::fill, i);
    for (std::uint32_t i = 0; i < plan_.copies.size() && runs; ++i)
      if (plan_.copies[i].when.is_before(op) && is_made(i)) expected.emplace_back(Kind::copy, i);
    if (runs && !graph_.op(op).no_task) expected.emplace_back(Kind::op, static_cast<std::uint32_t>(op.index()));
    check_list(groups_[{visit, op}].own, expected, describe(graph_, op));
  }

  void check_list(const std::vector<Number>& found, const std::vector<std::pair<Kind, std::uint32_t>>& expected,
                  const std::string& where) {
    std::vector<std::pair<Kind, std::uint32_t>> is;
    for (const Number i : found) is.emplace_back(of_.instructions[i].step.kind, of_.instructions[i].step.index);
    if (is != expected) say("other steps than there should be belong to " + where);
    for (std::size_t k = 1; k < found.size(); ++k) demand(found[k - 1], found[k]);
  }

  void check_end(std::size_t visit) {
    std::vector<std::pair<Kind, std::uint32_t>> expected;
    for (std::uint32_t i = 0; i < plan_.copies.size() && visit != 0; ++i) {
      const bool at_end = plan_.copies[i].when.kind != CopyMoment::Kind::before_op &&
                          graph_.scope_of(plan_.copies[i].tensor) == of_.visits[visit].scope;
      if (at_end && is_made(i)) expected.emplace_back(Kind::copy, i);
    }
    check_list(at_end_[visit], expected, "the end of a body");
    for (const Number each : in_visit_[visit]) {
      const bool itself = std::count(at_end_[visit].begin(), at_end_[visit].end(), each) > 0;
      for (const Number copy : at_end_[visit])
        if (!itself) demand(each, copy);
    }
  }

  [[nodiscard]] bool is_made(std::uint32_t i) const {
    const Copy& copy = plan_.copies[i];
    if (copy.size == Bytes(0)) return false;
    TensorId source = copy.tensor;
    if (copy.when.kind == CopyMoment::Kind::before_op) {
      const Op& op = graph_.op(copy.when.op);
      const bool split =
          op.contiguous_outputs == Contiguity::packed && std::count(op.outputs.begin(), op.outputs.end(), source) > 0;
      for (auto input = op.inputs.rbegin(); split && input != op.inputs.rend(); ++input)
        if (*input) source = **input;
    }
    return has_value(source);
  }

  /// Whether somebody gives the tensor a value in this batch.
  [[nodiscard]] bool has_value(TensorId tensor) const {
    tensor = graph_.root(tensor).tensor;
    const ScopeId home = graph_.scope_of(tensor);
    for (const BodyInput& pair : graph_.scope(home).inputs)
      if (home != ScopeId(0) && pair.inner == tensor) return has_value(pair.outer);
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const bool same =
          graph_.relations().place(TensorId(t)).representative == graph_.relations().place(tensor).representative;
      if (same && graph_.tensors()[t].flags.any_of(kOwnAddress | TensorFlag::input)) return true;
    }
    bool written = false;
    for (const Op& op : graph_.ops()) {
      for (const TensorId output : op.outputs) {
        if (graph_.root(output).tensor != tensor) continue;
        written = true;
        if (op.batch.empty() || op.batch == choice_.batch) return true;
      }
    }
    return !written;
  }

  // ---------------------------------------------------------------------------------------------------------------
  // bytes

  [[nodiscard]] std::vector<Extent> bytes_of(const ProgramStep& step) const {
    std::vector<Extent> result;
    const auto add = [&](ArenaId arena, std::uint32_t region, Bytes offset, Bytes size) {
      if (size > Bytes(0)) result.push_back({{arena, region}, {offset, offset + size}});
    };
    const auto pad = [&](const auto& place, Bytes alignment) {
      return plan_.padding == Padding::own ? align_up(place.offset + place.size, alignment) - place.offset : place.size;
    };
    if (step.kind == Kind::fill) {
      const Clear& clear = plan_.clears[step.index];
      add(clear.arena, clear.region, clear.offset, clear.size);
    }
    if (step.kind == Kind::copy) {
      const Copy& copy = plan_.copies[step.index];
      add(copy.arena, copy.region, copy.offset, copy.size);
    }
    if (step.kind != Kind::op) return result;
    const Op& op = graph_.op(OpId(step.index));
    std::set<TensorId> tensors(op.outputs.begin(), op.outputs.end());
    for (const auto& input : op.inputs)
      if (input && has_value(*input)) tensors.insert(*input);
    for (const Placement& place : plan_.placements)
      if (tensors.contains(place.tensor))
        add(place.arena, place.region, place.offset, pad(place, graph_.alignment(place.tensor)));
    for (const WorkspacePlacement& place : plan_.workspaces)
      if (place.op == OpId(step.index))
        add(place.arena, place.region, place.offset, pad(place, graph_.alignment(op.workspaces[place.index])));
    return result;
  }

  static bool meet(const std::vector<Extent>& a, const std::vector<Extent>& b) {
    for (const Extent& x : a)
      for (const Extent& y : b)
        if (x.region == y.region && x.bytes.overlaps(y.bytes)) return true;
    return false;
  }

  void check_fills_at_start() {
    std::set<std::uint32_t> made;
    for (const Number fill : at_start_) {
      const ProgramStep& step = of_.instructions[fill].step;
      if (!made.insert(step.index).second) say(name(fill) + " is made twice");
      for (Number i = 0; i < of_.instructions.size(); ++i) {
        if (i == fill || !works(i) || !meet(bytes_of(step), bytes_of(of_.instructions[i].step))) continue;
        const bool start = std::count(at_start_.begin(), at_start_.end(), i) > 0;
        if (start && of_.instructions[i].step.index < step.index) continue;
        demand(fill, i);
      }
    }
  }

  /// In the order of the host: every byte that must be filled was filled with the value, and by nothing else since.
  void check_filled() {
    std::map<std::pair<std::pair<ArenaId, std::uint32_t>, std::int64_t>, int> value_of;  // -1: something else
    const auto mark = [&](const Extent& at, int value) {
      for (std::int64_t b = at.bytes.lower.value(); b < at.bytes.upper.value(); ++b) value_of[{at.region, b}] = value;
    };
    for (const auto& [step, visit] : of_.instructions) {
      if (step.kind == Kind::op) check_filled(OpId(step.index), value_of);
      const int value = step.kind == Kind::fill ? plan_.clears[step.index].value : -1;
      if (step.kind == Kind::fill || step.kind == Kind::copy || step.kind == Kind::op)
        for (const Extent& at : written_by(step)) mark(at, value);
    }
  }

  [[nodiscard]] std::vector<Extent> written_by(const ProgramStep& step) const {
    if (step.kind != Kind::op) return bytes_of(step);
    std::vector<Extent> result;
    const Op& op = graph_.op(OpId(step.index));
    if (op.control != Control::none) return result;  // its bodies write
    for (const Placement& place : plan_.placements)
      if (std::count(op.outputs.begin(), op.outputs.end(), place.tensor) > 0)
        result.push_back({{place.arena, place.region}, {place.offset, place.offset + place.size}});
    for (const WorkspacePlacement& place : plan_.workspaces)
      if (place.op == OpId(step.index))
        result.push_back({{place.arena, place.region}, {place.offset, place.offset + place.size}});
    return result;
  }

  template <class Values>
  void check_filled(OpId id, const Values& value_of) {
    const Op& op = graph_.op(id);
    const auto check = [&](ArenaId arena, std::uint32_t region, Bytes offset, Bytes size) {
      for (std::int64_t b = offset.value(); b < (offset + size).value(); ++b) {
        const auto found = value_of.find({{arena, region}, b});
        if (found == value_of.end() || found->second != op.zero_fill.value)
          say(describe(graph_, id) + " starts on memory that is not filled");
      }
    };
    for (const std::uint32_t output : op.zero_fill.outputs)
      for (const Placement& place : plan_.placements)
        if (place.tensor == op.outputs[output]) check(place.arena, place.region, place.offset, place.size);
    for (const std::uint32_t index : op.zero_fill.workspaces)
      for (const WorkspacePlacement& place : plan_.workspaces)
        if (place.op == id && place.index == index) check(place.arena, place.region, place.offset, place.size);
  }

  // ------------------------------------------------------------------------------------------------------------
  // bindings

  void check_bindings() {
    std::set<std::uint32_t> bound;
    bool worked = false;
    for (const auto& [step, visit] : of_.instructions) {
      if (step.kind == Kind::bind && (worked || !bound.insert(step.index).second)) say("a binding is late, or twice");
      worked = worked || step.kind == Kind::fill || step.kind == Kind::copy || step.kind == Kind::op;
      if (step.kind != Kind::op) continue;
      const Op& op = graph_.op(OpId(step.index));
      for (std::uint32_t i = 0; i < plan_.bindings.size(); ++i) {
        const TensorId tensor = plan_.bindings[i].tensor;
        const auto touches = [&](TensorId each) {
          return graph_.relations().place(each).representative == graph_.relations().place(tensor).representative;
        };
        bool used = std::any_of(op.outputs.begin(), op.outputs.end(), touches);
        for (const auto& input : op.inputs) used = used || (input && has_value(*input) && touches(*input));
        for (const Extent& at : bytes_of(step)) {
          const Arena& arena = plan_.arenas[at.region.first.index()];
          used = used || (arena.kind == ArenaKind::user && arena.tensor == tensor);
        }
        if (used && !bound.contains(i)) say(fmt::format("binding {} is not checked", i));
      }
    }
  }

  const Graph& graph_;
  const Plan& plan_;
  const Submission& of_;
  RunChoice choice_;
  std::vector<std::vector<std::size_t>> before_op_;
  std::vector<std::vector<bool>> before_;  ///< By instruction.
  std::map<std::pair<std::size_t, OpId>, Group> groups_;
  std::map<OpId, std::set<OpId>> direct_;                ///< What an op comes directly after.
  std::map<std::size_t, std::vector<Number>> at_end_;    ///< By visit: copies at its end.
  std::map<std::size_t, std::vector<Number>> in_visit_;  ///< By visit: everything in it, bodies in bodies too.
  std::vector<Number> at_start_;
  std::optional<std::string> fault_;
};

}  // namespace

std::optional<std::string> fault_of_program(const Graph& graph, const Plan& plan, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto batches = static_cast<std::uint32_t>(graph.batches().size());
  for (std::uint32_t batch = batches == 0 ? 0 : 1; batch <= batches; ++batch) {
    for (int i = 0; i < (graph.has_bodies() ? 4 : 1); ++i) {
      Host host(graph, *plan.program, batch, random);
      if (std::optional<std::string> fault = host.perform()) return fault;
      if (std::optional<std::string> fault = Judge(graph, plan, batch, host.submission()).run()) return fault;
    }
  }
  return std::nullopt;
}

}  // namespace stowage::testing
