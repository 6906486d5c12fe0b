#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stowage/graph.hpp"
#include "support/judges/shadow/families.hpp"
#include "support/judges/shadow/hash.hpp"
#include "support/judges/shadow/memory.hpp"

namespace stowage::testing {

/// The correct values: every family has separate, permanent memory. Values that the graph passes on (into packed
/// groups, out of bodies, around loops) are copied here. Tracks which bytes were written; the others are undefined.
class Reference {
 public:
  /// Bytes with what is known about them.
  struct Value {
    std::vector<std::byte> bytes;
    std::vector<WrittenCells::Cells> written;
  };

  Reference(const Graph& graph, Bytes granularity);

  /// A new run: only what has an address of its own keeps its value.
  void begin_run();
  /// The scope is entered: what lives in it alone is undefined.
  void forget(ScopeId scope);

  /// To be written by the caller, who says so with `mark_written`. Empty for what has no memory (constants, size 0).
  [[nodiscard]] std::span<std::byte> bytes(TensorId tensor) const { return tensors_[tensor.index()]; }
  void mark_written(TensorId tensor);

  /// `count` cells from `first` on.
  [[nodiscard]] Value take(TensorId tensor, std::size_t first, std::size_t count) const;
  [[nodiscard]] Value take(TensorId tensor) const { return take(tensor, 0, bytes(tensor).size()); }
  void put(TensorId tensor, std::size_t first, const Value& value);

  /// Which bytes of the tensor are defined: empty where all are.
  [[nodiscard]] std::vector<std::byte> mask(TensorId tensor) const;
  /// Nothing wrote any byte of it in this run.
  [[nodiscard]] bool is_absent(TensorId tensor) const;
  [[nodiscard]] std::uint64_t hash_of(TensorId tensor, std::uint64_t seed) const;

  [[nodiscard]] const Families& families() const { return families_; }
  [[nodiscard]] std::size_t family(TensorId tensor) const { return families_.seats[tensor.index()].family; }
  [[nodiscard]] TensorFlags flags(TensorId tensor) const { return families_.families[family(tensor)].flags; }

 private:
  Families families_;
  SparseMemory memory_;
  std::vector<std::span<std::byte>> tensors_;
  std::vector<WrittenCells> written_;  ///< By family.
};

}  // namespace stowage::testing
