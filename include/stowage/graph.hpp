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

/// The tensor graph whose memory is planned: what must hold, stated as types.
///
/// A `GraphDescription` is a plain aggregate that anyone may fill: the C++ builder, an importer, a
/// test. `Graph::build` validates it and turns it into an immutable `Graph`.
namespace stowage {

/// The root graph, or a body of one of its ops, or of theirs. Its tensors and ops are ranges of the
/// graph's.
struct Scope {
  OpId op;                 ///< Whose body it is; meaningless for the root.
  std::uint32_t body = 0;  ///< Its number among that op's.
  ScopeId parent;          ///< Where that op is; the root's is itself.
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

/// What the other modules of this library find in a graph; not for users.
struct Relations;

/// A validated graph. Immutable, so that any number of threads may read one at the same time, and
/// copies share it: copying is cheap.
class STOWAGE_EXPORT Graph {
 public:
  /// Validates `description`. O(size of the description). Fails with `ErrorCode::invalid` and the
  /// path, the op and the tensor on: an unknown id; a size below 0 or sizes that sum to more than
  /// 2^62; an alignment that is not a power of two; a view outside its base, of itself, in another
  /// memory, or with an address of its own; a view or alias whose alignment its offset breaks; a
  /// tensor with two producers (variables excepted); an op that writes a constant; a read before
  /// any write; `after` naming an op that does not come earlier (a cycle); pairs and aliases with
  /// positions that the op does not have; aliases that contradict each other; groups, fills,
  /// bodies, batches, rings and flags that break their rules (docs/formats.md).
  ///
  /// Not errors: equal names, tensors that nobody uses, empty graphs, tensors of size 0, an input
  /// that is also constant (then it is a constant). A description without memories gets one, named
  /// "memory", of alignment 1.
  static Result<Graph> build(GraphDescription description);

  [[nodiscard]] const std::string& name() const { return content_->description.name; }
  [[nodiscard]] std::span<const Memory> memories() const { return content_->description.memories; }
  [[nodiscard]] std::span<const Ring> rings() const { return content_->description.rings; }
  /// Those of all scopes, the root's first: there ids are positions in the description. Ids inside
  /// them are of this list too.
  [[nodiscard]] std::span<const Tensor> tensors() const {
    return content_->flat ? content_->flat->tensors : content_->description.tensors;
  }
  /// Those of all scopes, the root's first, each scope's in execution order. `bodies` is empty
  /// here: see `bodies(op)`.
  [[nodiscard]] std::span<const Op> ops() const {
    return content_->flat ? content_->flat->ops : content_->description.ops;
  }
  [[nodiscard]] const Memory& memory(MemoryId id) const {
    return content_->description.memories[id.index()];
  }
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors()[id.index()]; }
  [[nodiscard]] const Op& op(OpId id) const { return ops()[id.index()]; }

  /// The root first, then every body, before the bodies inside it.
  [[nodiscard]] std::span<const Scope> scopes() const { return content_->scopes; }
  [[nodiscard]] const Scope& scope(ScopeId id) const { return content_->scopes[id.index()]; }
  [[nodiscard]] ScopeId scope_of(OpId id) const;
  [[nodiscard]] ScopeId scope_of(TensorId id) const;
  /// The scopes of an op's bodies, in their order.
  [[nodiscard]] std::span<const ScopeId> bodies(OpId id) const;
  [[nodiscard]] bool has_bodies() const { return content_->scopes.size() > 1; }
  [[nodiscard]] BodyPath path(ScopeId id) const;
  /// Nothing when there is no such body.
  [[nodiscard]] std::optional<ScopeId> find_scope(std::span<const std::uint32_t> path) const;
  /// The batch labels of its ops, in the order of their first ops.
  [[nodiscard]] std::span<const std::string> batches() const { return content_->batches; }

  /// Whether it has nothing but tensors, views, aliases, in-place pairs, workspaces and streams:
  /// what a runtime can serve with an address for each tensor. Everything else needs the plan's
  /// clears, copies, bindings or edges too.
  [[nodiscard]] bool needs_addresses_only() const { return content_->addresses_only; }

  /// The whole as it was described, bodies inside their ops.
  [[nodiscard]] const GraphDescription& description() const { return content_->description; }

  /// Where the bytes of a tensor start: in the tensor that views lead to and that is not a view.
  [[nodiscard]] ViewOf root(TensorId id) const { return content_->roots[id.index()]; }
  /// The alignment that the tensor's address must have: its own, or for a tensor that is not a view
  /// its memory's. A view without an alignment of its own lies wherever its base puts it (1).
  [[nodiscard]] Bytes alignment(TensorId id) const;
  [[nodiscard]] Bytes alignment(const Workspace& workspace) const;
  /// The number of streams: one more than the largest stream id of a task op, at least 1.
  [[nodiscard]] std::size_t stream_count() const { return content_->stream_count; }
  /// Aliases, groups and rings, found when the graph was built.
  [[nodiscard]] const Relations& relations() const { return *content_->relations; }

 private:
  Graph() : content_(std::make_shared<Content>()) {}

  struct Flat {
    std::vector<Tensor> tensors;
    std::vector<Op> ops;
  };
  struct Content {
    GraphDescription description = {};
    std::optional<Flat> flat = {};                  ///< Where there are bodies.
    std::vector<Scope> scopes = {};                 ///< At least the root.
    std::vector<std::vector<ScopeId>> bodies = {};  ///< By op, up to the last that has any.
    std::vector<std::string> batches = {};
    std::vector<ViewOf> roots = {};
    std::size_t stream_count = 1;
    bool addresses_only = true;
    std::shared_ptr<const Relations> relations = {};
  };

  std::shared_ptr<Content>
      content_;  ///< Written while the graph is built, shared by copies afterwards.
};

/// Puts a description together piece by piece; each `add` returns the id of what it added. Not
/// thread-safe. Nothing is checked before `build`.
class STOWAGE_EXPORT GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) { description_.name = std::move(name); }

  MemoryId add(Memory memory);
  TensorId add(Tensor tensor);
  OpId add(Op op);
  RingId add(Ring ring);

  /// `Graph::build` of what was added so far; leaves the builder empty.
  Result<Graph> build();

 private:
  GraphDescription description_;
};

/// "tensor 'x' (3)" and "op 'matmul' (7)": how messages name things.
[[nodiscard]] STOWAGE_EXPORT std::string describe(const Tensor& tensor, TensorId id);
[[nodiscard]] STOWAGE_EXPORT std::string describe(const Op& op, OpId id);
/// The same with numbers as in its scope, and where that is: "tensor 'x' (3) in body 0 of op 'loop'
/// (4)".
[[nodiscard]] STOWAGE_EXPORT std::string describe(const Graph& graph, TensorId id);
[[nodiscard]] STOWAGE_EXPORT std::string describe(const Graph& graph, OpId id);

}  // namespace stowage
