#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ggml_headers.hpp"

namespace stowage::ggml {

/// A kind of memory that counts, fails and refuses as told. Its memory is the heap's, so that tests can look into it.
class FakeBufferType {
 public:
  struct Options {
    std::size_t alignment = 32;
    std::size_t max_size = SIZE_MAX;
    std::size_t capacity = SIZE_MAX;  ///< Of all buffers that are there at a time.
    bool host = true;
    bool hears_of_tensors = false;  ///< Wants to initialize tensors, and to be reset.
    std::size_t base_shift = 0;     ///< How far bases lie behind an aligned address.
    std::size_t padding =
        0;  ///< What each leaf takes beyond its bytes; of computed tensors some ggml versions insist on the bytes.
  };

  FakeBufferType() : FakeBufferType(Options{}) {}
  explicit FakeBufferType(const Options& options);
  FakeBufferType(const FakeBufferType&) = delete;
  FakeBufferType& operator=(const FakeBufferType&) = delete;

  [[nodiscard]] ggml_backend_buffer_type_t get() { return &type_; }

  Options options;
  std::optional<int> fails_at = {};        ///< The allocation, from 1, that fails.
  std::optional<int> refuses_tensor = {};  ///< The tensor, from 1, that is not initialized.
  int allocations = 0;                     ///< Asked for.
  int buffers = 0;                         ///< There now.
  std::size_t bytes = 0;                   ///< In those.
  int resets = 0;
  int tensors = 0;  ///< Initialized.

 private:
  ggml_backend_buffer_type type_{};
};

}  // namespace stowage::ggml
