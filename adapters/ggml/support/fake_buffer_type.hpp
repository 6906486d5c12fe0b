#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ggml_headers.hpp"

namespace stowage::ggml {

/// A buffer type that counts calls, and fails and refuses as told. Its memory comes from the heap, so that tests can
/// read it.
class FakeBufferType {
 public:
  struct Options {
    std::size_t alignment = 32;
    std::size_t max_size = SIZE_MAX;
    std::size_t capacity = SIZE_MAX;  ///< Of all live buffers together.
    bool host = true;
    bool hears_of_tensors = false;  ///< Has callbacks to initialize tensors and to reset.
    std::size_t base_shift = 0;     ///< Distance of bases from the preceding aligned address.
    /// Bytes that each leaf needs in addition to its size. Only leafs, because some ggml versions insist on the exact
    /// size of computed tensors.
    std::size_t padding = 0;
  };

  FakeBufferType() : FakeBufferType(Options{}) {}
  explicit FakeBufferType(const Options& options);
  FakeBufferType(const FakeBufferType&) = delete;
  FakeBufferType& operator=(const FakeBufferType&) = delete;

  [[nodiscard]] ggml_backend_buffer_type_t get() { return &type_; }

  Options options;
  std::optional<int> fails_at = {};        ///< The allocation, counted from 1, that fails.
  std::optional<int> refuses_tensor = {};  ///< The tensor, counted from 1, that is not initialized.
  int allocations = 0;                     ///< Requested so far.
  int buffers = 0;                         ///< Live buffers.
  std::size_t bytes = 0;                   ///< In live buffers.
  int resets = 0;
  int tensors = 0;  ///< Initialized so far.

 private:
  ggml_backend_buffer_type type_{};
};

}  // namespace stowage::ggml
