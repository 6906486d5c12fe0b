#include "buffer_types.hpp"

#include <algorithm>

namespace stowage::ggml {

BufferTypes::BufferTypes(std::span<const ggml_backend_buffer_type_t> by_id) {
  for (const ggml_backend_buffer_type_t type : by_id) {
    const auto known = std::find(types_.begin(), types_.end(), type);
    distinct_of_id_.push_back(static_cast<std::size_t>(known - types_.begin()));
    if (known == types_.end()) types_.push_back(type);
  }
}

bool BufferTypes::is_first(int id) const {
  const auto end = distinct_of_id_.begin() + id;
  return std::find(distinct_of_id_.begin(), end, memory_of(id)) == end;
}

Memory BufferTypes::describe(std::size_t distinct) const {
  const ggml_backend_buffer_type_t type = types_[distinct];
  Memory memory{.name = ggml_backend_buft_name(type),
                .alignment = Bytes(static_cast<std::int64_t>(ggml_backend_buft_get_alignment(type)))};
  const std::size_t max_size = ggml_backend_buft_get_max_size(type);
  if (max_size <= static_cast<std::size_t>(kMaxBytes.value()))
    memory.max_size = Bytes(static_cast<std::int64_t>(max_size));
  return memory;
}

}  // namespace stowage::ggml
