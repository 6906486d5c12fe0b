#pragma once

#include <string>
#include <vector>

#include "stowage/graph.hpp"

namespace stowage {

/// A description with the tensors and ops of all bodies listed after those of the root; ids are
/// indices into these lists.
struct Flattened {
  std::vector<Tensor> tensors;
  std::vector<Op> ops;  ///< Without bodies.
  std::vector<Scope> scopes;
  std::vector<std::vector<ScopeId>> bodies;  ///< By op.
};

/// Checks that every id exists in its own scope, then puts all scopes into one list. The root's ids do not change.
/// Fails on ids that do not exist, on a number of bodies that the op's control does not allow, and on bodies nested
/// deeper than `kMaxDepth`.
[[nodiscard]] Result<Flattened> flatten(const GraphDescription& description);
inline constexpr std::size_t kMaxDepth = 64;

/// Translates a path in the flat lists ("tensors[17].size") to one in the description
/// ("ops[3].bodies[0].tensors[2].size").
[[nodiscard]] std::string described_path(const std::string& path, const std::vector<Scope>& scopes);

/// "ops[3].bodies[0]." for a body; "" for the root.
[[nodiscard]] std::string prefix_of(const std::vector<Scope>& scopes, ScopeId id);

/// The scope whose range of tensors (or ops) contains the index.
[[nodiscard]] ScopeId scope_of_tensor(const std::vector<Scope>& scopes, std::size_t tensor);
[[nodiscard]] ScopeId scope_of_op(const std::vector<Scope>& scopes, std::size_t op);

}  // namespace stowage
