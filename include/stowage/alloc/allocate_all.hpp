#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "stowage/alloc/address.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/memory.hpp"

namespace stowage {

/// Buffers of one type and the addresses of the tensors in them. Move-only; the type must outlive
/// it.
struct STOWAGE_EXPORT AllocatedTensors {
  std::vector<std::unique_ptr<Buffer>> buffers;  ///< Empty if there was nothing to place.
  std::vector<Address> tensors;                  ///< By tensor.

  /// The total size of all buffers.
  [[nodiscard]] Bytes size() const;
};

struct AllocateAllOptions {
  /// By tensor: its address, if it already has one. Such tensors and their views stay there. Empty:
  /// no tensor has an address yet.
  std::span<const Address> placed = {};
  /// Place only tensors with one of these flags, and their views. Empty: all.
  TensorFlags only = {};
  SizeInBuffer size_of = {};
};

/// Allocates memory for permanent tensors, such as weights and caches, each at its own address. The
/// equivalent of ggml_backend_alloc_ctx_tensors_from_buft.
///
/// Tensors are placed one after the other in the given order, each at the larger of the type's and
/// its own alignment, with `size_of` bytes. (The base of a buffer may be unaligned.) When a buffer
/// would exceed the type's largest size, another one is started. A view lies in its base, at the
/// position given by `view_of`. External tensors, tensors excluded by `only`, and views of both get
/// a null address. Having nothing to place is not an error and gives no buffers; a tensor of size 0
/// is placed.
///
/// Fails with `out_of_memory`, naming type and size, when a tensor is larger than the largest
/// buffer or memory is exhausted; and with `invalid` when a size is negative, `size_of` returns
/// less than a tensor's size, an alignment is not a power of two, a view refers to no tensor, to
/// itself through others or to bytes outside of its base, or `placed` and `tensors` differ in
/// length. A failure frees everything. Thread-safe if `type` is.
STOWAGE_EXPORT Result<AllocatedTensors> allocate_all(std::span<const Tensor> tensors,
                                                     BufferType& type,
                                                     const AllocateAllOptions& options = {});

/// The same in the default memory of a device.
STOWAGE_EXPORT Result<AllocatedTensors> allocate_all(std::span<const Tensor> tensors,
                                                     Device& device,
                                                     const AllocateAllOptions& options = {});

/// The sizes of the buffers that `allocate_all` would allocate if their bases are aligned.
/// Allocates nothing. Fails like it, except for lack of memory.
STOWAGE_EXPORT Result<std::vector<Bytes>> allocate_all_sizes(
    std::span<const Tensor> tensors, const BufferType& type,
    const AllocateAllOptions& options = {});

}  // namespace stowage
