#include "plan_text.hpp"

#include <vector>

#include <fmt/format.h>

#include "output.hpp"
#include "stowage/base/printable.hpp"
#include "stowage/plan/program_cost.hpp"

namespace stowage::cli {
namespace {

constexpr std::size_t kShown = 3;  // of each list; the plan file has them all

/// The names that a plan's numbers stand for.
class Names {
 public:
  explicit Names(const Graph& graph) : graph_(graph) {}

  // The plan is verified: every id in it is valid.
  [[nodiscard]] std::string tensor(TensorId id) const {
    return fmt::format("'{}'{}", printable(graph_.tensor(id).name), where(graph_.scope_of(id)));
  }
  [[nodiscard]] std::string op(OpId id) const { return fmt::format("'{}'", printable(graph_.op(id).name)); }
  [[nodiscard]] std::string moment(CopyMoment when) const {
    switch (when.kind) {
      case CopyMoment::Kind::before_op:
        return "before " + op(when.op);
      case CopyMoment::Kind::body_end:
        return "at the end of the body";
      case CopyMoment::Kind::back_edge:
        return "at the back edge";
    }
    return {};
  }

 private:
  [[nodiscard]] std::string where(ScopeId id) const {
    if (id == ScopeId(0)) return "";
    const Scope& inner = graph_.scope(id);
    return fmt::format(" in body {} of '{}'", inner.body, printable(graph_.op(inner.op).name));
  }

  const Graph& graph_;
};

/// One line, and one below it for each further entry that is shown.
template <class Entries, class Describe>
std::string lines(std::string_view label, const std::string& figure, const Entries& entries, Describe describe) {
  if (entries.empty()) return "";
  std::string text;
  for (std::size_t i = 0; i < entries.size() && i < kShown; ++i) {
    text += fmt::format("  {:<6} {:>14}   {}\n", i == 0 ? label : "", i == 0 ? figure : "", describe(entries[i]));
  }
  if (entries.size() > kShown) text += fmt::format("  {:<6} {:>14}   and {} more\n", "", "", entries.size() - kShown);
  return text;
}

template <class Entries>
Bytes total(const Entries& entries) {
  Bytes sum;
  for (const auto& entry : entries) sum += entry.size;
  return sum;
}

/// What a run moves or fills; without a program, that of the whole list.
template <class Entries>
std::string per_run(const Plan& plan, Bytes ProgramCost::* figure, const Entries& entries) {
  return size_text(plan.program ? cost_of(plan).*figure : total(entries));
}

/// A line only if streams wait for each other.
std::string waits_text(const Plan& plan) {
  const std::size_t waits = cost_of(plan).waits;
  if (waits == 0) return "";
  return fmt::format("  {:<6} {:>14}   of streams for each other, in a run\n", "waits", waits);
}

}  // namespace

std::string plan_text(const Graph& graph, const Plan& plan) {
  const Names names(graph);
  std::string text =
      lines("copies", per_run(plan, &ProgramCost::copied, plan.copies), plan.copies, [&](const Copy& copy) {
        return fmt::format("{} {}: {}", names.tensor(copy.tensor), names.moment(copy.when), copy.reason);
      });
  text += lines("clears", per_run(plan, &ProgramCost::filled, plan.clears), plan.clears, [&](const Clear& clear) {
    const std::string moment = clear.before == OpId(0) ? "at the start" : "before " + names.op(clear.before);
    return fmt::format("{} bytes to {} {}", clear.size.value(), clear.value, moment);
  });
  text += lines("binds", size_text(total(plan.bindings)), plan.bindings, [&](const Binding& binding) {
    return fmt::format("{} to the caller's buffer", names.tensor(binding.tensor));
  });
  text += lines("edges", std::to_string(plan.edges.size()), plan.edges,
                [&](const Edge& edge) { return fmt::format("{} before {}", names.op(edge.from), names.op(edge.to)); });
  text += waits_text(plan);
  text += lines("notes", std::to_string(plan.notes.size()), plan.notes,
                [&](const Note& note) { return fmt::format("{}: {}", names.tensor(note.tensor), note.reason); });
  return text;
}

}  // namespace stowage::cli
