#pragma once

#include <cstddef>
#include <cstdint>

#include "stowage/graph.hpp"

/// Limits of what a file may ask for. Some tables of planning and verifying are as large as a product, such as batches
/// × ops, of which a small file can make both factors large. Files that need more are refused before any table is made.
namespace stowage::io {

/// Objects in a JSON file: tensors, ops, workspaces, bodies. Each costs about a kilobyte, however short its text is.
inline constexpr std::size_t kMaxObjects = std::size_t{11} << 16;
/// Each batch is a run of its own, which visits all ops and tensors.
inline constexpr std::size_t kMaxBatchWork = std::size_t{1} << 23;
/// Entries of the table that says, for each op, tensor and workspace, what comes after it on each stream. Batches, and
/// bodies that use other streams than their op, have streams of their own.
inline constexpr std::size_t kMaxStreamWork = std::size_t{1} << 25;
/// The bodies of one branch exclude each other, so what is known of every value is kept for each of them.
inline constexpr std::size_t kMaxBranchWork = std::size_t{1} << 25;
/// Each reusable buffer of the caller may host each tensor and workspace.
inline constexpr std::size_t kMaxHostWork = std::size_t{1} << 22;

/// Fails with `ErrorCode::unsupported` if the graph exceeds `times` times one of these limits; the error names the
/// factors and the limit. O(tensors + ops).
[[nodiscard]] Status check_extent(const Graph& graph, std::uint32_t times);

/// "ops × batches" or a count is `found`, above the limit.
[[nodiscard]] Error above_limit(const std::string& what, std::size_t found, std::size_t limit);

}  // namespace stowage::io
