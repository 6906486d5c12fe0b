#include "plan/interface/plan_file.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "files/interface/json_writer.hpp"

namespace stowage {
namespace {

/// Whether a file may call something so. A file has U+FFFD for what is not UTF-8 in the graph's name.
bool may_be_called(const std::string& in_file, const std::string& in_graph) {
  return in_file.empty() || in_file == in_graph || files::to_line(in_file) == files::to_line(in_graph);
}

/// Translates ids of a body to ids of the graph.
class Resolving {
 public:
  Resolving(const Graph& graph, const PlanFile& file) : graph_(graph), file_(file) {}

  ResolvedPlan run() && {
    result_.plan.graph = file_.graph;
    result_.plan.padding = file_.padding;
    result_.plan.arenas = file_.arenas;
    result_.plan.edges = file_.edges;
    Plan& plan = result_.plan;
    for (std::size_t a = 0; a < file_.proofs.size() && a < plan.arenas.size(); ++a) resolve_proof(a);
    add("placement", file_.placements, plan.placements, [&](Placement& each) { return resolve_tensor(each.tensor); });
    add("workspace placement", file_.workspaces, plan.workspaces,
        [&](WorkspacePlacement& each) { return resolve_workspace(each); });
    add("clear", file_.clears, plan.clears, [&](Clear& each) { return resolve_before(each.before); });
    add("copy", file_.copies, plan.copies, [&](Copy& each) { return resolve_copy(each); });
    add("note", file_.notes, plan.notes, [&](Note& each) { return resolve_tensor(each.tensor); });
    add_bindings();
    compare_names();
    return std::move(result_);
  }

 private:
  /// `to_flat` renumbers an entry of `scope_`, or returns an error text.
  template <class Entry, class ToFlat>
  void add(const char* kind, const std::vector<InBody<Entry>>& from, std::vector<Entry>& to, ToFlat to_flat) {
    to.reserve(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      Entry entry = from[i].entry;
      const std::optional<std::string> fault = enter(from[i].body) ? to_flat(entry) : no_body(from[i].body);
      if (fault) {
        result_.unknown.push_back(fmt::format("{} {} {}, which does not exist", kind, i, *fault));
      } else {
        compare_name(kind, i, entry, from[i].name);
        to.push_back(std::move(entry));
      }
    }
  }

  /// `verify` judges bindings of tensors that do not exist.
  void add_bindings() {
    for (std::size_t i = 0; i < file_.bindings.size(); ++i) {
      const Binding& binding = file_.bindings[i].entry;
      if (binding.tensor.index() < graph_.scope(ScopeId(0)).tensor_count)
        compare_name("binding", i, binding, file_.bindings[i].name);
      result_.plan.bindings.push_back(binding);
    }
  }

  // What an entry is about, as the graph calls it; null for entries that have no name.
  [[nodiscard]] const std::string* name_in_graph(const WorkspacePlacement& each) const {
    return &graph_.op(each.op).name;
  }
  [[nodiscard]] static const std::string* name_in_graph(const Clear&) { return nullptr; }
  [[nodiscard]] static const std::string* name_in_graph(OpId) { return nullptr; }
  [[nodiscard]] static const std::string* name_in_graph(TensorId) { return nullptr; }
  [[nodiscard]] static const std::string* name_in_graph(const WorkspaceId&) { return nullptr; }
  template <class Entry>
  [[nodiscard]] const std::string* name_in_graph(const Entry& each) const {
    return &graph_.tensor(each.tensor).name;
  }

  /// `entry` has ids of the graph.
  template <class Entry>
  void compare_name(const char* kind, std::size_t number, const Entry& entry, const std::string& in_file) {
    const std::string* const in_graph = name_in_graph(entry);
    if (in_graph == nullptr || in_file.empty()) return;
    ++named_;
    if (may_be_called(in_file, *in_graph)) return;
    if (misnamed_++ == 0)
      first_misnamed_ = fmt::format("{} {} calls '{}' what the graph calls '{}'", kind, number, in_file, *in_graph);
  }

  void compare_names() {
    if (misnamed_ == 0) return;
    result_.misnamed =
        fmt::format("the plan is for another graph: {} of its {} names differ; {}", misnamed_, named_, first_misnamed_);
  }

  /// A proof with an unknown id is left out.
  void resolve_proof(std::size_t arena) {
    const ProofInFile& from = file_.proofs[arena];
    BoundProof proof{.argument = from.argument, .op = {}, .alignment = from.alignment};
    const std::size_t unknown = result_.unknown.size();
    const std::string kind = fmt::format("the proof of arena {} names something that", arena);
    std::vector<OpId> ops;
    if (from.op) add(kind.c_str(), {*from.op}, ops, [&](OpId& op) { return resolve_before(op); });
    if (!ops.empty()) proof.op = ops.front();
    add(kind.c_str(), from.tensors, proof.tensors, [&](TensorId& each) { return resolve_tensor(each); });
    add(kind.c_str(), from.workspaces, proof.workspaces, [&](WorkspaceId& each) { return resolve_workspace(each); });
    if (result_.unknown.size() == unknown) result_.plan.arenas[arena].proof = std::move(proof);
  }

  bool enter(const BodyPath& body) {
    const std::optional<ScopeId> found = body.empty() ? ScopeId(0) : graph_.find_scope(body);
    if (found) scope_ = &graph_.scope(*found);
    body_ = &body;
    return found.has_value();
  }
  static std::string no_body(const BodyPath& body) { return fmt::format("is in body [{}]", fmt::join(body, ", ")); }

  /// The body of the current entry, for messages; empty for the root.
  [[nodiscard]] std::string where() const {
    return body_->empty() ? std::string() : fmt::format(" in body [{}]", fmt::join(*body_, ", "));
  }

  std::optional<std::string> resolve_tensor(TensorId& id) const {
    if (id.index() >= scope_->tensor_count) return fmt::format("names tensor {}{}", id.index(), where());
    id = TensorId(scope_->first_tensor.index() + id.index());
    return std::nullopt;
  }

  template <class Workspace>
  std::optional<std::string> resolve_workspace(Workspace& each) const {
    const OpId op(scope_->first_op.index() + each.op.index());
    if (each.op.index() >= scope_->op_count || each.index >= graph_.op(op).workspaces.size())
      return fmt::format("names workspace {} of op {}{}", each.index, each.op.index(), where());
    each.op = op;
    return std::nullopt;
  }

  std::optional<std::string> resolve_before(OpId& op) const {
    if (op.index() >= scope_->op_count) return fmt::format("is before op {}{}", op.index(), where());
    op = OpId(scope_->first_op.index() + op.index());
    return std::nullopt;
  }

  std::optional<std::string> resolve_copy(Copy& copy) const {
    if (std::optional<std::string> fault = resolve_tensor(copy.tensor)) return fault;
    const bool in_body = !body_->empty();
    if (copy.when.kind != CopyMoment::Kind::before_op)
      return in_body ? std::nullopt : std::optional("is at the end of a body");
    if (!in_body || copy.when.op.index() != scope_->op_count) return resolve_before(copy.when.op);
    copy.when = CopyMoment::at_body_end();
    return std::nullopt;
  }

  const Graph& graph_;
  const PlanFile& file_;
  const Scope* scope_ = nullptr;    ///< The scope of the current entry.
  const BodyPath* body_ = nullptr;  ///< The path to that scope.
  std::size_t named_ = 0;           ///< Entries with a name.
  std::size_t misnamed_ = 0;
  std::string first_misnamed_;
  ResolvedPlan result_;
};

/// Translates ids of the graph to ids of a body.
class Localising {
 public:
  explicit Localising(const Graph& graph) : graph_(graph) {
    for (std::size_t s = 0; s < graph.scopes().size(); ++s) paths_.push_back(graph.path(ScopeId(s)));
  }

  InBody<Placement> operator()(Placement each) const {
    const ScopeId scope = graph_.scope_of(each.tensor);
    std::string name = graph_.tensor(each.tensor).name;
    each.tensor = local(each.tensor, scope);
    return {each, path(scope), std::move(name)};
  }
  InBody<Binding> operator()(const Binding& each) const {
    return {each, {}, each.tensor.index() < graph_.tensors().size() ? graph_.tensor(each.tensor).name : std::string()};
  }
  InBody<WorkspacePlacement> operator()(WorkspacePlacement each) const {
    const ScopeId scope = graph_.scope_of(each.op);
    std::string name = graph_.op(each.op).name;
    each.op = local(each.op, scope);
    return {each, path(scope), std::move(name)};
  }
  InBody<Clear> operator()(Clear each) const {
    const ScopeId scope = graph_.scope_of(each.before);
    each.before = local(each.before, scope);
    return {each, path(scope)};
  }
  InBody<Copy> operator()(Copy each) const {
    const ScopeId scope = graph_.scope_of(each.tensor);
    std::string name = graph_.tensor(each.tensor).name;
    each.tensor = local(each.tensor, scope);
    if (each.when.kind == CopyMoment::Kind::before_op) each.when.op = local(each.when.op, scope);
    if (each.when.kind == CopyMoment::Kind::body_end)
      each.when = CopyMoment::before(OpId(graph_.scope(scope).op_count));
    return {std::move(each), path(scope), std::move(name)};
  }
  InBody<Note> operator()(Note each) const {
    const ScopeId scope = graph_.scope_of(each.tensor);
    std::string name = graph_.tensor(each.tensor).name;
    each.tensor = local(each.tensor, scope);
    return {std::move(each), path(scope), std::move(name)};
  }

  InBody<OpId> operator()(OpId id) const {
    const ScopeId scope = graph_.scope_of(id);
    return {local(id, scope), path(scope)};
  }
  InBody<TensorId> operator()(TensorId id) const {
    const ScopeId scope = graph_.scope_of(id);
    return {local(id, scope), path(scope)};
  }
  InBody<WorkspaceId> operator()(WorkspaceId each) const {
    const ScopeId scope = graph_.scope_of(each.op);
    return {{local(each.op, scope), each.index}, path(scope)};
  }

  [[nodiscard]] std::vector<ProofInFile> proofs(const std::vector<Arena>& arenas) const {
    std::vector<ProofInFile> result;
    for (const Arena& arena : arenas) {
      const BoundProof& proof = arena.proof;
      result.push_back({.argument = proof.argument, .op = {}, .alignment = proof.alignment});
      if (proof.op) result.back().op = (*this)(*proof.op);
      result.back().tensors = all(proof.tensors);
      result.back().workspaces = all(proof.workspaces);
    }
    while (!result.empty() && result.back() == ProofInFile{}) result.pop_back();
    return result;
  }

  template <class Entry>
  std::vector<InBody<Entry>> all(const std::vector<Entry>& entries) const {
    std::vector<InBody<Entry>> result;
    result.reserve(entries.size());
    for (const Entry& entry : entries) result.push_back((*this)(entry));
    return result;
  }

 private:
  [[nodiscard]] const BodyPath& path(ScopeId scope) const { return paths_[scope.index()]; }
  [[nodiscard]] TensorId local(TensorId id, ScopeId scope) const {
    return TensorId(id.index() - graph_.scope(scope).first_tensor.index());
  }
  [[nodiscard]] OpId local(OpId id, ScopeId scope) const {
    return OpId(id.index() - graph_.scope(scope).first_op.index());
  }

  const Graph& graph_;
  std::vector<BodyPath> paths_;  ///< By scope.
};

}  // namespace

ResolvedPlan resolve(const Graph& graph, const PlanFile& file) { return Resolving(graph, file).run(); }

const std::string& graph_name(const PlanFile& file) { return file.graph; }

Result<Plan> plan_for(const Graph& graph, const PlanFile& file) {
  ResolvedPlan resolved = resolve(graph, file);
  if (!resolved.misnamed.empty()) return Error{ErrorCode::invalid, std::move(resolved.misnamed), {}};
  if (!resolved.unknown.empty()) return Error{ErrorCode::invalid, std::move(resolved.unknown.front()), {}};
  return std::move(resolved.plan);
}

Plan known_part(const Graph& graph, const PlanFile& file) { return resolve(graph, file).plan; }

PlanFile localise(const Graph& graph, const Plan& plan) {
  const Localising localised(graph);
  std::vector<Arena> arenas = plan.arenas;
  for (Arena& arena : arenas) arena.proof = {};
  return {.graph = plan.graph,
          .padding = plan.padding,
          .arenas = std::move(arenas),
          .proofs = localised.proofs(plan.arenas),
          .placements = localised.all(plan.placements),
          .workspaces = localised.all(plan.workspaces),
          .clears = localised.all(plan.clears),
          .bindings = localised.all(plan.bindings),
          .copies = localised.all(plan.copies),
          .edges = plan.edges,
          .notes = localised.all(plan.notes)};
}

}  // namespace stowage
