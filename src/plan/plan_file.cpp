#include "plan/interface/plan_file.hpp"

#include <algorithm>
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
    clears_ = add("clear", file_.clears, plan.clears, [&](Clear& each) { return resolve_before(each.before); });
    copies_ = add("copy", file_.copies, plan.copies, [&](Copy& each) { return resolve_copy(each); });
    add("note", file_.notes, plan.notes, [&](Note& each) { return resolve_tensor(each.tensor); });
    add_bindings();
    if (file_.program) resolve_program();
    compare_names();
    return std::move(result_);
  }

 private:
  /// By position in a list of the file: that in the list of the plan, from which entries may be missing.
  using Positions = std::vector<std::optional<std::uint32_t>>;

  /// `to_flat` renumbers an entry of `scope_`, or returns an error text.
  template <class Entry, class ToFlat>
  Positions add(const char* kind, const std::vector<InBody<Entry>>& from, std::vector<Entry>& to, ToFlat to_flat) {
    Positions positions(from.size());
    to.reserve(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      Entry entry = from[i].entry;
      const std::optional<std::string> fault = enter(from[i].body) ? to_flat(entry) : no_body(from[i].body);
      if (fault) {
        result_.unknown.push_back(fmt::format("{} {} {}, which does not exist", kind, i, *fault));
      } else {
        compare_name(kind, i, entry, from[i].name);
        positions[i] = static_cast<std::uint32_t>(to.size());
        to.push_back(std::move(entry));
      }
    }
    return positions;
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

  // ------------------------------------------------------------------------------------------------------------
  // program

  void resolve_program() {
    Program& program = result_.plan.program.emplace();
    program.steps.reserve(file_.program->size());
    for (std::size_t i = 0; i < file_.program->size(); ++i) {
      const StepInFile& step = (*file_.program)[i].entry;
      const BodyPath& body = (*file_.program)[i].body;
      ProgramStep flat{.kind = step.kind, .index = step.index};
      const std::optional<std::string> fault = enter(body) ? resolve_step(step, flat) : no_body(body);
      if (fault) {
        result_.unknown.push_back(fmt::format("program step {} {}, which does not exist", i, *fault));
      } else {
        program.steps.push_back(flat);
      }
    }
  }

  std::optional<std::string> resolve_step(const StepInFile& step, ProgramStep& flat) const {
    flat.scope = ScopeId(static_cast<std::size_t>(scope_ - graph_.scopes().data()));
    if (!step.batch.empty()) {
      const auto found = std::find(graph_.batches().begin(), graph_.batches().end(), step.batch);
      if (found == graph_.batches().end()) return fmt::format("is for batch '{}'", step.batch);
      flat.batch = 1 + static_cast<std::uint32_t>(found - graph_.batches().begin());
    }
    if (std::optional<std::string> fault = resolve_subject(flat)) return fault;
    if (step.stream) flat.stream = *step.stream;
    return std::nullopt;
  }

  /// What the step is about, and the stream that follows from that.
  std::optional<std::string> resolve_subject(ProgramStep& step) const {
    const Plan& plan = result_.plan;
    switch (step.kind) {
      case ProgramStep::Kind::op:
        if (step.index >= scope_->op_count) return fmt::format("names op {}{}", step.index, where());
        step.index += static_cast<std::uint32_t>(scope_->first_op.index());
        step.stream = graph_.op(OpId(step.index)).stream;
        return std::nullopt;
      case ProgramStep::Kind::bind:
        if (step.index >= plan.bindings.size()) return fmt::format("names binding {}", step.index);
        return std::nullopt;
      case ProgramStep::Kind::fill:
        if (step.index >= clears_.size() || !clears_[step.index]) return fmt::format("names clear {}", step.index);
        step.index = *clears_[step.index];
        step.stream = graph_.op(plan.clears[step.index].before).stream;
        return std::nullopt;
      case ProgramStep::Kind::copy:
        if (step.index >= copies_.size() || !copies_[step.index]) return fmt::format("names copy {}", step.index);
        step.index = *copies_[step.index];
        step.stream = stream_of(plan.copies[step.index]);
        return std::nullopt;
      case ProgramStep::Kind::record:
      case ProgramStep::Kind::wait:
        return std::nullopt;
    }
    return std::nullopt;
  }

  [[nodiscard]] StreamId stream_of(const Copy& copy) const {
    const bool before = copy.when.kind == CopyMoment::Kind::before_op;
    return graph_.op(before ? copy.when.op : graph_.scope(graph_.scope_of(copy.tensor)).op).stream;
  }

  const Graph& graph_;
  const PlanFile& file_;
  Positions clears_;
  Positions copies_;
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
  Localising(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {
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

  InBody<StepInFile> operator()(const ProgramStep& each) const {
    StepInFile step{.kind = each.kind, .index = each.index};
    if (each.kind == ProgramStep::Kind::op) step.index -= first_op(each.scope);
    if (says_stream(each)) step.stream = each.stream;
    if (each.batch > 0) step.batch = graph_.batches()[each.batch - 1];
    return {std::move(step), path(each.scope)};
  }

  template <class Entry>
  auto all(const std::vector<Entry>& entries) const
      -> std::vector<decltype(std::declval<const Localising&>()(entries.front()))> {
    std::vector<decltype((*this)(entries.front()))> result;
    result.reserve(entries.size());
    for (const Entry& entry : entries) result.push_back((*this)(entry));
    return result;
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

 private:
  [[nodiscard]] const BodyPath& path(ScopeId scope) const { return paths_[scope.index()]; }
  [[nodiscard]] TensorId local(TensorId id, ScopeId scope) const {
    return TensorId(id.index() - graph_.scope(scope).first_tensor.index());
  }
  [[nodiscard]] OpId local(OpId id, ScopeId scope) const {
    return OpId(id.index() - graph_.scope(scope).first_op.index());
  }

  /// The stream of an op or copy follows from the graph, and usually that of a fill.
  [[nodiscard]] bool says_stream(const ProgramStep& step) const {
    if (step.kind == ProgramStep::Kind::fill) return step.stream != graph_.op(plan_.clears[step.index].before).stream;
    return step.kind == ProgramStep::Kind::record || step.kind == ProgramStep::Kind::wait;
  }
  [[nodiscard]] std::uint32_t first_op(ScopeId scope) const {
    return static_cast<std::uint32_t>(graph_.scope(scope).first_op.index());
  }

  const Graph& graph_;
  const Plan& plan_;
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
  const Localising localised(graph, plan);
  std::vector<Arena> arenas = plan.arenas;
  for (Arena& arena : arenas) arena.proof = {};
  std::optional<std::vector<InBody<StepInFile>>> program;
  if (plan.program) program = localised.all(plan.program->steps);
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
          .program = std::move(program),
          .notes = localised.all(plan.notes)};
}

}  // namespace stowage
