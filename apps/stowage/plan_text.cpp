#include "plan_text.hpp"

#include <vector>

#include <fmt/format.h>

#include "output.hpp"

namespace stowage::cli {
namespace {

constexpr std::size_t kShown = 3;  // of each list; the plan file has them all

/// The names that a plan's numbers stand for.
class Names {
 public:
  explicit Names(const Graph& graph) : graph_(graph) {}

  [[nodiscard]] std::string tensor(TensorId local, const BodyPath& body = {}) const {
    const TensorId id(scope(body).first_tensor.index() + local.index());
    return fmt::format("'{}'{}", graph_.tensor(id).name, where(body));
  }
  [[nodiscard]] std::string op(std::size_t local, const BodyPath& body = {}) const {
    const OpId id(scope(body).first_op.index() + local);
    return fmt::format("'{}'", graph_.op(id).name);
  }
  /// When a copy is made.
  [[nodiscard]] std::string moment(const Copy& copy) const {
    if (copy.before == Copy::kBackEdge) return "at the back edge";
    const auto op = static_cast<std::size_t>(copy.before);
    return op == scope(copy.body).op_count ? "at the end of the body" : "before " + this->op(op, copy.body);
  }

 private:
  // Our own plan, verified: what it names is there.
  [[nodiscard]] const Scope& scope(const BodyPath& body) const { return graph_.scope(graph_.find_scope(body).value()); }
  [[nodiscard]] std::string where(const BodyPath& body) const {
    if (body.empty()) return "";
    const Scope& inner = scope(body);
    return fmt::format(" in body {} of '{}'", inner.body, graph_.op(inner.op).name);
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
std::string total(const Entries& entries) {
  Bytes sum;
  for (const auto& entry : entries) sum += entry.size;
  return size_text(sum);
}

}  // namespace

std::string plan_text(const Graph& graph, const Plan& plan) {
  const Names names(graph);
  std::string text = lines("copies", total(plan.copies), plan.copies, [&](const Copy& copy) {
    return fmt::format("{} {}: {}", names.tensor(copy.tensor, copy.body), names.moment(copy), copy.reason);
  });
  text += lines("clears", total(plan.clears), plan.clears, [&](const Clear& clear) {
    const bool at_start = clear.body.empty() && clear.before == OpId(0);
    const std::string moment = at_start ? "at the start" : "before " + names.op(clear.before.index(), clear.body);
    return fmt::format("{} bytes to {} {}", clear.size.value(), clear.value, moment);
  });
  text += lines("binds", total(plan.bindings), plan.bindings,
                [&](const Binding& binding) { return fmt::format("{} to the caller's buffer", names.tensor(binding.tensor)); });
  text += lines("edges", std::to_string(plan.edges.size()), plan.edges, [&](const Edge& edge) {
    return fmt::format("{} before {}", names.op(edge.from.index()), names.op(edge.to.index()));
  });
  text += lines("notes", std::to_string(plan.notes.size()), plan.notes,
                [&](const Note& note) { return fmt::format("{}: {}", names.tensor(note.tensor, note.body), note.reason); });
  return text;
}

}  // namespace stowage::cli
