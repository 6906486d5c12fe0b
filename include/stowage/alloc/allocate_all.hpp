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

/// Buffers of one type that belong together, and what lies in them. Move-only; the type must
/// outlive it.
struct STOWAGE_EXPORT AllocatedTensors {
  std::vector<std::unique_ptr<Buffer>> buffers;  ///< None when there was nothing to place.
  std::vector<Address> tensors;                  ///< By tensor.

  /// Of all buffers.
  [[nodiscard]] Bytes size() const;
};

struct AllocateAllOptions {
  /// By tensor: where it lies already. Such tensors stay there, and so do their views. Empty:
  /// nowhere yet.
  std::span<const Address> placed = {};
  /// Only tensors that have one of these flags, and their views. Empty: all.
  TensorFlags only = {};
  SizeInBuffer size_of = {};
};

/// Memory for tensors that stay, each at an address of its own: weights, caches. The equivalent of
/// ggml_backend_alloc_ctx_tensors_from_buft.
///
/// Tensors follow each other in the order given, each with the type's alignment, or its own where
/// that is larger, and `size_of` bytes (the base of a buffer may be unaligned); a buffer that would
/// exceed the type's largest size ends, and another begins. A view lies in its base, by the
/// positions that `view_of` names. Not placed, with an address of no buffer: external tensors,
/// those that `only` leaves out, and the views of both. Nothing to place is not an error and gives
/// no buffers; a tensor of size 0 is something to place.
///
/// Fails with `out_of_memory`, naming type and size, when a tensor is larger than the largest
/// buffer or the type has no more; and with `invalid` when a size is below 0, `size_of` says less
/// than a tensor has, an alignment no power of two, when a view names no tensor, itself through
/// others or bytes outside of its base, or when `placed` has another length than `tensors`. A
/// failure frees what was taken. Thread-safe as far as `type` is.
STOWAGE_EXPORT Result<AllocatedTensors> allocate_all(std::span<const Tensor> tensors,
                                                     BufferType& type,
                                                     const AllocateAllOptions& options = {});

/// In the ordinary memory of a device.
STOWAGE_EXPORT Result<AllocatedTensors> allocate_all(std::span<const Tensor> tensors,
                                                     Device& device,
                                                     const AllocateAllOptions& options = {});

/// The sizes of the buffers that `allocate_all` would ask for where bases are aligned; allocates
/// nothing. Fails like it, except for lack of memory.
STOWAGE_EXPORT Result<std::vector<Bytes>> allocate_all_sizes(
    std::span<const Tensor> tensors, const BufferType& type,
    const AllocateAllOptions& options = {});

}  // namespace stowage
