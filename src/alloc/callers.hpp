#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "alloc/caller_buffer.hpp"
#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/graph.hpp"

namespace stowage::alloc {

/// Addresses that are in use.
struct AddressRange {
  const std::byte* address = nullptr;
  Bytes size;
};

/// The memory of callers that tensors of one plan lie in. What shares memory with a bound tensor (views, aliases) lies
/// there too. Not thread-safe.
class Callers {
 public:
  /// `type_of` has the buffer type of each memory of the graph.
  Callers(const Graph& graph, const Plan& plan, std::vector<const BufferType*> type_of);

  /// As `GraphAllocator::bind`; `taken` is what the allocator has. `graph` is the one that the plan serves now.
  Status bind(const Graph& graph, std::span<const BoundMemory> memories, std::span<const AddressRange> taken);

  /// Where the tensor lies, if that is memory of a caller, or if the plan binds it (null until it is bound).
  [[nodiscard]] std::optional<Address> address(const Graph& graph, TensorId tensor) const;
  /// The memory of a tensor that the plan binds.
  [[nodiscard]] Buffer* buffer(TensorId tensor) const;
  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    TensorId tensor;          ///< The one that was bound.
    TensorId representative;  ///< Of those that share its memory.
    Bytes size;               ///< What is needed of the memory.
    Bytes alignment;
    bool planned = false;  ///< The plan binds it.
    std::unique_ptr<CallerBuffer> buffer;
  };

  [[nodiscard]] Result<Entry> entry_for(const Graph& graph, TensorId tensor) const;
  [[nodiscard]] Status check(const Graph& graph, const Entry& entry, const CallerMemory& memory) const;
  [[nodiscard]] Entry* find(TensorId representative);
  [[nodiscard]] const Entry* find(TensorId representative) const;

  std::vector<const BufferType*> type_of_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> entry_of_;  ///< By representative: 1 + the index of its entry; 0: none.
};

}  // namespace stowage::alloc
