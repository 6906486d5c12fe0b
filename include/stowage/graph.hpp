#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph/description.hpp"
#include "stowage/graph/ids.hpp"

/// The tensor graph whose memory is planned.
///
/// A `GraphDescription` is a plain aggregate that anyone may fill: an importer, a compiler, or
/// `GraphBuilder`. `Graph::build` validates it and returns an immutable `Graph`.
namespace stowage {

/// The root graph, or a body of an op at any depth. Its tensors and ops are contiguous ranges of
/// the graph's lists.
struct Scope {
  OpId op;                 ///< The op that has this body; meaningless for the root.
  std::uint32_t body = 0;  ///< Its number among that op's bodies.
  ScopeId parent;          ///< The scope of that op; the root is its own parent.
  TensorId first_tensor;
  std::size_t tensor_count = 0;
  OpId first_op;
  std::size_t op_count = 0;
  std::vector<BodyInput> inputs = {};
  std::vector<BodyOutput> outputs = {};
  std::vector<Carried> carried = {};

  [[nodiscard]] bool contains(OpId id) const {
    return id.index() >= first_op.index() && id.index() < first_op.index() + op_count;
  }
  [[nodiscard]] bool contains(TensorId id) const {
    return id.index() >= first_tensor.index() && id.index() < first_tensor.index() + tensor_count;
  }
};

/// What other modules of this library derive from a graph; not for users.
struct Relations;

/// A validated graph. Immutable, hence thread-safe. Copies share their content, so copying is
/// cheap.
class STOWAGE_EXPORT Graph {
 public:
  /// Validates `description`. O(size of the description). Fails with `ErrorCode::invalid` and the
  /// path, the op and the tensor on: an unknown id; a negative size or sizes that sum to more than
  /// 2^62; an alignment that is not a power of two; a view outside its base, of itself, in another
  /// memory, or with its own address; a view or alias whose alignment its offset breaks; a tensor,
  /// other than a variable, with two producers; an op that writes a constant; a read before any
  /// write; `after` naming an op that does not come earlier (a cycle); pairs and aliases with
  /// positions that the op does not have; aliases that contradict each other; groups, fills,
  /// bodies, batches, rings and flags that break their rules (docs/formats.md); a cost, a number
  /// of operations, a bandwidth or a trip count out of range; tensors to be kept apart that the
  /// graph itself puts on the same bytes.
  ///
  /// Not errors: equal names, unused tensors, empty graphs, tensors of size 0, an input that is
  /// also a constant (it is treated as a constant). A description without memories gets one, named
  /// "memory", of alignment 1.
  static Result<Graph> build(GraphDescription description);

  [[nodiscard]] const std::string& name() const { return content_->description.name; }
  [[nodiscard]] std::span<const Memory> memories() const { return content_->description.memories; }
  [[nodiscard]] std::span<const Ring> rings() const { return content_->description.rings; }
  [[nodiscard]] std::span<const ApartTensors> apart() const { return content_->description.apart; }
  /// The tensors of all scopes. The root's come first, so their ids are those of the description.
  /// Ids inside a tensor refer to this list too.
  [[nodiscard]] std::span<const Tensor> tensors() const {
    return content_->flat ? content_->flat->tensors : content_->description.tensors;
  }
  /// The ops of all scopes, the root's first, each scope's in execution order. `Op::bodies` is
  /// empty here: see `bodies(op)`.
  [[nodiscard]] std::span<const Op> ops() const {
    return content_->flat ? content_->flat->ops : content_->description.ops;
  }
  [[nodiscard]] const Memory& memory(MemoryId id) const {
    return content_->description.memories[id.index()];
  }
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors()[id.index()]; }
  [[nodiscard]] const Op& op(OpId id) const { return ops()[id.index()]; }

  /// The root first, then all bodies, each before the bodies inside it.
  [[nodiscard]] std::span<const Scope> scopes() const { return content_->scopes; }
  [[nodiscard]] const Scope& scope(ScopeId id) const { return content_->scopes[id.index()]; }
  [[nodiscard]] ScopeId scope_of(OpId id) const;
  [[nodiscard]] ScopeId scope_of(TensorId id) const;
  /// The scopes of an op's bodies, in their order.
  [[nodiscard]] std::span<const ScopeId> bodies(OpId id) const;
  [[nodiscard]] bool has_bodies() const { return content_->scopes.size() > 1; }
  [[nodiscard]] BodyPath path(ScopeId id) const;
  /// Returns nothing when there is no such body.
  [[nodiscard]] std::optional<ScopeId> find_scope(std::span<const std::uint32_t> path) const;
  /// The batch labels of the ops, in order of first appearance.
  [[nodiscard]] std::span<const std::string> batches() const { return content_->batches; }

  /// Whether the graph uses only tensors, views, aliases, in-place pairs, workspaces and streams,
  /// so that an address per tensor is all that a runtime needs. Otherwise the plan's clears,
  /// copies, bindings and edges matter too.
  [[nodiscard]] bool needs_addresses_only() const { return content_->addresses_only; }

  /// The graph as it was described, with bodies inside their ops.
  [[nodiscard]] const GraphDescription& description() const { return content_->description; }

  /// Where a tensor's bytes start, with views followed to a tensor that is not a view.
  [[nodiscard]] ViewOf root(TensorId id) const { return content_->roots[id.index()]; }
  /// The alignment that the tensor's address must have: its own if it has one; otherwise its
  /// memory's, or 1 for a view, which lies where its base puts it.
  [[nodiscard]] Bytes alignment(TensorId id) const;
  [[nodiscard]] Bytes alignment(const Workspace& workspace) const;
  /// One more than the largest stream id of a task op; at least 1.
  [[nodiscard]] std::size_t stream_count() const { return content_->stream_count; }
  /// Aliases, groups and rings, derived when the graph was built; not for users.
  [[nodiscard]] const Relations& relations() const { return *content_->relations; }

 private:
  Graph() : content_(std::make_shared<Content>()) {}

  struct Flat {
    std::vector<Tensor> tensors;
    std::vector<Op> ops;
  };
  struct Content {
    GraphDescription description = {};
    std::optional<Flat> flat = {};                  ///< Present only with bodies.
    std::vector<Scope> scopes = {};                 ///< At least the root.
    std::vector<std::vector<ScopeId>> bodies = {};  ///< By op, up to the last one with bodies.
    std::vector<std::string> batches = {};
    std::vector<ViewOf> roots = {};
    std::size_t stream_count = 1;
    bool addresses_only = true;
    std::shared_ptr<const Relations> relations = {};
  };

  /// Written only while the graph is built; shared by copies.
  std::shared_ptr<Content> content_;
};

/// Builds a description piece by piece. Each `add` returns the id of what it added; nothing is
/// checked before `build`. Not thread-safe.
class STOWAGE_EXPORT GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) { description_.name = std::move(name); }

  MemoryId add(Memory memory);
  TensorId add(Tensor tensor);
  OpId add(Op op);
  RingId add(Ring ring);
  void add(ApartTensors pair);

  /// Calls `Graph::build` with everything added so far and leaves the builder empty.
  Result<Graph> build();

 private:
  GraphDescription description_;
};

/// "tensor 'x' (3)" and "op 'matmul' (7)", as in error messages.
[[nodiscard]] STOWAGE_EXPORT std::string describe(const Tensor& tensor, TensorId id);
[[nodiscard]] STOWAGE_EXPORT std::string describe(const Op& op, OpId id);
/// The same with the number within its scope, and that scope: "tensor 'x' (3) in body 0 of op
/// 'loop' (4)".
[[nodiscard]] STOWAGE_EXPORT std::string describe(const Graph& graph, TensorId id);
[[nodiscard]] STOWAGE_EXPORT std::string describe(const Graph& graph, OpId id);

}  // namespace stowage
