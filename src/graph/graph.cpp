#include "stowage/graph.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "graph/flatten.hpp"
#include "graph/validation.hpp"
#include "stowage/base/printable.hpp"

namespace stowage {
namespace {

/// What validation finds in the flat lists.
struct Checked {
  std::vector<ViewOf> roots;
  OffsetUnion aliases;
};

/// The rules that need nothing but the flat lists.
Result<Checked> check_flat(const GraphDescription& flat, const std::vector<Scope>& scopes) {
  STOWAGE_TRY_STATUS(validation::check_sizes(flat));
  STOWAGE_TRY_STATUS(validation::check_costs(flat));
  STOWAGE_TRY(std::vector<ViewOf> roots, validation::resolve_views(flat));
  STOWAGE_TRY_STATUS(validation::check_dataflow(flat, roots, scopes));
  STOWAGE_TRY(OffsetUnion aliases, validation::join_aliases(flat, roots));
  return Checked{std::move(roots), std::move(aliases)};
}

Error described(Error error, const std::vector<Scope>& scopes) {
  error.where.path = described_path(error.where.path, scopes);
  return error;
}

bool is_nested(const GraphDescription& description) {
  return std::any_of(description.ops.begin(), description.ops.end(),
                     [](const Op& op) { return op.control != Control::none || !op.bodies.empty(); });
}

bool needs_addresses_only(const Op& op) {
  return op.contiguous_inputs == Contiguity::none && op.contiguous_outputs == Contiguity::none &&
         op.zero_fill.empty() && !op.fixed_address && op.batch.empty() && op.control == Control::none && !op.prefetch &&
         std::all_of(op.workspaces.begin(), op.workspaces.end(),
                     [](const Workspace& workspace) { return workspace.scope == WorkspaceScope::op; });
}

Scope root_scope(const GraphDescription& description) {
  Scope root;
  root.tensor_count = description.tensors.size();
  root.op_count = description.ops.size();
  return root;
}

}  // namespace

Result<Graph> Graph::build(GraphDescription description) {
  if (description.memories.empty()) description.memories.push_back(Memory{.name = "memory"});
  Graph graph;
  OffsetUnion aliases(0);
  if (is_nested(description)) {
    STOWAGE_TRY(Flattened flat, flatten(description));
    graph.content_->scopes = std::move(flat.scopes);
    graph.content_->bodies = std::move(flat.bodies);
    GraphDescription whole{description.name, description.memories, std::move(flat.tensors), std::move(flat.ops),
                           description.rings};
    Result<Checked> checked = check_flat(whole, graph.content_->scopes);
    if (!checked) return described(std::move(checked.error()), graph.content_->scopes);
    graph.content_->roots = std::move(checked->roots);
    aliases = std::move(checked->aliases);
    graph.content_->flat = Flat{std::move(whole.tensors), std::move(whole.ops)};
  } else {
    graph.content_->scopes.push_back(root_scope(description));
    STOWAGE_TRY_STATUS(validation::check_references(description, ""));
    STOWAGE_TRY(Checked checked, check_flat(description, graph.content_->scopes));
    graph.content_->roots = std::move(checked.roots);
    aliases = std::move(checked.aliases);
  }
  graph.content_->description = std::move(description);
  std::unordered_set<std::string_view> labels;
  graph.content_->addresses_only =
      std::none_of(graph.tensors().begin(), graph.tensors().end(),
                   [](const Tensor& tensor) { return tensor.flags.has(TensorFlag::zero_copy); });
  for (const Op& op : graph.ops()) {
    graph.content_->addresses_only = graph.content_->addresses_only && stowage::needs_addresses_only(op);
    if (!op.no_task) graph.content_->stream_count = std::max(graph.content_->stream_count, op.stream.index() + 1);
    if (!op.batch.empty() && labels.insert(op.batch).second) graph.content_->batches.push_back(op.batch);
  }
  Result<Relations> relations = validation::check_constraints(graph, std::move(aliases));
  if (!relations) return described(std::move(relations.error()), graph.content_->scopes);
  graph.content_->relations = std::make_shared<const Relations>(std::move(*relations));
  return graph;
}

ScopeId Graph::scope_of(OpId id) const { return scope_of_op(content_->scopes, id.index()); }

ScopeId Graph::scope_of(TensorId id) const { return scope_of_tensor(content_->scopes, id.index()); }

std::span<const ScopeId> Graph::bodies(OpId id) const {
  return id.index() < content_->bodies.size() ? std::span<const ScopeId>(content_->bodies[id.index()])
                                              : std::span<const ScopeId>();
}

BodyPath Graph::path(ScopeId id) const {
  BodyPath path;
  while (id.index() != 0) {
    const Scope& scope = content_->scopes[id.index()];
    path.push_back(scope.body);
    path.push_back(
        static_cast<std::uint32_t>(scope.op.index() - content_->scopes[scope.parent.index()].first_op.index()));
    id = scope.parent;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::optional<ScopeId> Graph::find_scope(std::span<const std::uint32_t> path) const {
  if (path.size() % 2 != 0) return std::nullopt;
  ScopeId at(0);
  for (; !path.empty(); path = path.subspan(2)) {
    if (path[0] >= scope(at).op_count) return std::nullopt;
    const std::span<const ScopeId> inside = bodies(OpId(scope(at).first_op.index() + path[0]));
    if (path[1] >= inside.size()) return std::nullopt;
    at = inside[path[1]];
  }
  return at;
}

Bytes Graph::alignment(TensorId id) const {
  const Tensor& tensor = this->tensor(id);
  if (tensor.alignment) return *tensor.alignment;
  return tensor.view_of ? Bytes(1) : memory(tensor.memory).alignment;
}

Bytes Graph::alignment(const Workspace& workspace) const {
  return workspace.alignment.value_or(memory(workspace.memory).alignment);
}

std::string describe(const Tensor& tensor, TensorId id) {
  return fmt::format("tensor '{}' ({})", printable(tensor.name), id.index());
}

std::string describe(const Op& op, OpId id) { return fmt::format("op '{}' ({})", printable(op.name), id.index()); }

namespace {

/// " in body 0 of op 'loop' (4)", or nothing in the root.
std::string inside(const Graph& graph, ScopeId scope) {
  if (scope == ScopeId(0)) return {};
  return fmt::format(" in body {} of {}", graph.scope(scope).body, describe(graph, graph.scope(scope).op));
}

}  // namespace

std::string describe(const Graph& graph, TensorId id) {
  const ScopeId scope = graph.scope_of(id);
  const TensorId local(id.index() - graph.scope(scope).first_tensor.index());
  return describe(graph.tensor(id), local) + inside(graph, scope);
}

std::string describe(const Graph& graph, OpId id) {
  const ScopeId scope = graph.scope_of(id);
  const OpId local(id.index() - graph.scope(scope).first_op.index());
  return describe(graph.op(id), local) + inside(graph, scope);
}

bool operator==(const Body& a, const Body& b) {
  return a.tensors == b.tensors && a.ops == b.ops && a.inputs == b.inputs && a.outputs == b.outputs &&
         a.carried == b.carried;
}

}  // namespace stowage
