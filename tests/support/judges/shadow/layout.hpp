#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "support/judges/shadow/families.hpp"
#include "support/judges/shadow/memory.hpp"

namespace stowage::testing {

/// A place in the memory of a planned run.
struct Site {
  Extent extent = {};
  std::int64_t offset = 0;          ///< In bytes, from the start of its space.
  Bytes alignment{1};               ///< What its address must be a multiple of.
  std::span<std::byte> bytes = {};  ///< Empty for what takes none (constants, size 0).
};

/// Where an op finds its operands. That is not always the tensor's place: a copied input is read at the copy, and an op
/// with a padded group only knows where the group starts.
struct OpSites {
  std::vector<Site> inputs;
  std::vector<Site> outputs;
  std::vector<Site> workspaces;
};

struct PlannedCopy {
  TensorId tensor;
  TensorId source;  ///< The tensor itself, or for a part of a split's input, that input.
  Site from;
  Site to;
};

struct PlannedClear {
  Site to;
  std::uint8_t value = 0;
};

/// An address range: a region of an arena, a caller's buffer, an external tensor.
struct Space {
  enum class Kind : std::uint8_t {
    shared,  ///< Elsewhere in every run where the base is refreshable.
    kept,    ///< Where it is for ever.
    caller,  ///< A new buffer in every run.
  };
  Kind kind = Kind::kept;
  Bytes size = {};
  Bytes alignment = {};  ///< Of a caller's buffer: no more than this.
  std::optional<TensorId> binding = {};
};

/// A plan as spans of real memory, with the clears and copies and their moments.
struct Layout {
  SparseMemory memory{{}};
  std::vector<Space> spaces = {};
  std::vector<Site> tensors = {};  ///< Where they lie.
  std::vector<OpSites> ops = {};
  std::vector<PlannedClear> first_clears = {};            ///< Before everything.
  std::vector<std::vector<PlannedClear>> clears = {};     ///< Right before an op.
  std::vector<std::vector<PlannedCopy>> copies = {};      ///< Right before an op.
  std::vector<std::vector<PlannedCopy>> end_copies = {};  ///< By scope: when its body, or an iteration, is over.
};

/// Every tensor and workspace where the plan says; externals in memory of their own. Whatever is missing, outside of
/// its region or does not exist is appended to `findings`; the result then is not to be used.
[[nodiscard]] Layout planned_layout(const Graph& graph, const Plan& plan, const Families& families, Bytes granularity,
                                    std::vector<std::string>& findings);

/// Operands where the tensors themselves are.
[[nodiscard]] Layout plain_layout(const Graph& graph, std::vector<Site> tensors,
                                  std::vector<std::vector<Site>> workspaces);

}  // namespace stowage::testing
