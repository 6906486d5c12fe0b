#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ggml_headers.hpp"
#include "stowage/graph.hpp"

namespace stowage::ggml {

/// The buffer types that a graph allocator was made with. A type that was given for several ids is stored once.
class BufferTypes {
 public:
  explicit BufferTypes(std::span<const ggml_backend_buffer_type_t> by_id);

  [[nodiscard]] std::size_t ids() const { return distinct_of_id_.size(); }
  [[nodiscard]] std::size_t distinct() const { return types_.size(); }
  [[nodiscard]] ggml_backend_buffer_type_t type(std::size_t distinct) const { return types_[distinct]; }
  /// The memory of the graph that represents buffer `id`. Precondition: the id exists.
  [[nodiscard]] std::size_t memory_of(int id) const { return distinct_of_id_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] bool has(int id) const { return id >= 0 && static_cast<std::size_t>(id) < ids(); }
  /// Whether no earlier id has the same type.
  [[nodiscard]] bool is_first(int id) const;

  [[nodiscard]] Memory describe(std::size_t distinct) const;

 private:
  std::vector<ggml_backend_buffer_type_t> types_;
  std::vector<std::size_t> distinct_of_id_;
};

}  // namespace stowage::ggml
