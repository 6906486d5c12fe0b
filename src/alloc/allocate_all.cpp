#include "stowage/alloc/allocate_all.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "alloc/interface/aligned_buffer.hpp"
#include "memory/interface/errors.hpp"

namespace stowage {
namespace {

/// Where a tensor will lie, before there are buffers.
struct TensorPlace {
  enum class Kind : std::uint8_t { unknown, skipped, placed, ours };
  Kind kind = Kind::unknown;
  std::size_t buffer = 0;  ///< For `ours`.
  /// For `ours`, from the first aligned address of the buffer; for `placed`, from the base of its buffer.
  Bytes offset = {};
};

struct Layout {
  std::vector<TensorPlace> places;  ///< By tensor.
  std::vector<Bytes> sizes;         ///< By buffer.
  Bytes alignment{1};               ///< Of the first address used in each buffer.
  std::vector<Address> given;       ///< By tensor, for those that are already placed.
};

Error fault(std::span<const Tensor> tensors, std::size_t t, std::string_view what) {
  return {ErrorCode::invalid,
          fmt::format("{} {}", describe(tensors[t], TensorId(t)), what),
          {.file = {}, .line = {}, .path = fmt::format("tensors[{}]", t)}};
}

class Layouter {
 public:
  Layouter(std::span<const Tensor> tensors, const BufferType& type, const AllocateAllOptions& options,
           std::optional<Bytes> limit)
      : tensors_(tensors), type_(type), options_(options), limit_(limit.value_or(kMaxBytes)) {}

  Result<Layout> run() {
    layout_.alignment = type_.alignment();
    layout_.places.resize(tensors_.size());
    layout_.given.resize(tensors_.size());
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      if (!tensors_[t].view_of) STOWAGE_TRY_STATUS(place(t));
    }
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      if (tensors_[t].view_of) STOWAGE_TRY_STATUS(place_view(t));
    }
    return std::move(layout_);
  }

 private:
  [[nodiscard]] bool is_placed(std::size_t t) const {
    return t < options_.placed.size() && options_.placed[t].buffer != nullptr;
  }

  [[nodiscard]] bool is_wanted(const Tensor& tensor) const {
    return !tensor.flags.has(TensorFlag::external) && (options_.only.empty() || tensor.flags.any_of(options_.only));
  }

  Status place(std::size_t t) {
    if (is_placed(t)) return place_at(t, options_.placed[t]);
    if (!is_wanted(tensors_[t])) {
      layout_.places[t].kind = TensorPlace::Kind::skipped;
      return Done{};
    }
    if (tensors_[t].size < Bytes(0)) return fault(tensors_, t, "has a size below 0");
    const Bytes size = options_.size_of ? options_.size_of(tensors_[t], type_) : tensors_[t].size;
    if (size < tensors_[t].size)
      return fault(tensors_, t, fmt::format("has {} bytes in {}, fewer than its own size", size.value(), type_.name()));
    const Bytes alignment = std::max(type_.alignment(), tensors_[t].alignment.value_or(Bytes(1)));
    if (!is_power_of_two(alignment)) return fault(tensors_, t, "has an alignment that is not a power of two");
    layout_.alignment = std::max(layout_.alignment, alignment);
    if (size > limit_) {
      return memory::out_of_memory(type_.name(), size,
                                   fmt::format("{} is larger than the largest buffer ({} bytes)",
                                               describe(tensors_[t], TensorId(t)), limit_.value()));
    }
    std::optional<Bytes> offset;
    if (!layout_.sizes.empty()) offset = next_offset(layout_.sizes.back(), size, alignment);
    if (!offset) layout_.sizes.emplace_back();
    layout_.places[t] = {TensorPlace::Kind::ours, layout_.sizes.size() - 1, offset.value_or(Bytes(0))};
    layout_.sizes.back() = offset.value_or(Bytes(0)) + size;
    return Done{};
  }

  /// The tensor's offset in a buffer that is used up to `end`; nothing when it no longer fits there.
  [[nodiscard]] std::optional<Bytes> next_offset(Bytes end, Bytes size, Bytes alignment) const {
    const Bytes offset = align_up(end, alignment);
    if (offset > limit_ || size > limit_ - offset) return std::nullopt;
    return offset;
  }

  Status place_at(std::size_t t, const Address& address) {
    layout_.places[t] = {TensorPlace::Kind::placed, 0, address.offset};
    layout_.given[t] = address;
    return Done{};
  }

  /// Follows a chain of views to a tensor whose place is known.
  Status place_view(std::size_t t) {
    if (layout_.places[t].kind != TensorPlace::Kind::unknown) return Done{};
    if (is_placed(t)) return place_at(t, options_.placed[t]);
    std::vector<std::size_t> chain;
    for (std::size_t at = t; layout_.places[at].kind == TensorPlace::Kind::unknown && !is_placed(at);) {
      if (chain.size() > tensors_.size()) return fault(tensors_, t, "is a view of itself");
      chain.push_back(at);
      at = tensors_[at].view_of->tensor.index();
      if (at >= tensors_.size()) return fault(tensors_, chain.back(), "is a view of a tensor that does not exist");
    }
    for (; !chain.empty(); chain.pop_back()) STOWAGE_TRY_STATUS(place_in_base(chain.back()));
    return Done{};
  }

  Status place_in_base(std::size_t t) {
    const ViewOf view = *tensors_[t].view_of;
    const Tensor& base = tensors_[view.tensor.index()];
    const Bytes size = tensors_[t].size;
    if (view.offset < Bytes(0) || size < Bytes(0) || view.offset > base.size || size > base.size - view.offset)
      return fault(tensors_, t, "lies outside its base");
    if (is_placed(view.tensor.index())) {
      const Address& address = options_.placed[view.tensor.index()];
      return place_at(t, {address.buffer, address.offset + view.offset});
    }
    layout_.places[t] = layout_.places[view.tensor.index()];
    layout_.places[t].offset += view.offset;
    if (layout_.places[t].kind == TensorPlace::Kind::placed)
      layout_.given[t] = {layout_.given[view.tensor.index()].buffer, layout_.places[t].offset};
    return Done{};
  }

  std::span<const Tensor> tensors_;
  const BufferType& type_;
  const AllocateAllOptions& options_;
  Bytes limit_;
  Layout layout_;
};

Result<Layout> lay_out(std::span<const Tensor> tensors, const BufferType& type, const AllocateAllOptions& options,
                       Bytes lost) {
  if (!options.placed.empty() && options.placed.size() != tensors.size()) {
    return Error{
        ErrorCode::invalid,
        fmt::format("there are {} tensors, but `placed` has {} entries", tensors.size(), options.placed.size()),
        {}};
  }
  std::optional<Bytes> limit = type.max_size();
  if (limit) limit = std::max(Bytes(0), *limit - lost);
  return Layouter(tensors, type, options, limit).run();
}

/// Sets `unaligned` if the base of a buffer was unaligned.
Result<AllocatedTensors> allocate(const Layout& layout, BufferType& type, bool& unaligned) {
  AllocatedTensors result;
  for (const Bytes size : layout.sizes) {
    STOWAGE_TRY(std::unique_ptr<Buffer> buffer, alloc::allocate_aligned(type, size, layout.alignment, unaligned));
    result.buffers.push_back(std::move(buffer));
  }
  for (std::size_t t = 0; t < layout.places.size(); ++t) {
    const TensorPlace& place = layout.places[t];
    Address address = layout.given[t];
    if (place.kind == TensorPlace::Kind::ours) {
      Buffer* const buffer = result.buffers[place.buffer].get();
      address = {buffer, alloc::gap_before(*buffer, layout.alignment) + place.offset};
    }
    result.tensors.push_back(address);
  }
  return result;
}

}  // namespace

Bytes AllocatedTensors::size() const {
  Bytes sum;
  for (const std::unique_ptr<Buffer>& buffer : buffers) sum += buffer->size();
  return sum;
}

Result<AllocatedTensors> allocate_all(std::span<const Tensor> tensors, BufferType& type,
                                      const AllocateAllOptions& options) {
  STOWAGE_TRY(const Layout layout, lay_out(tensors, type, options, Bytes(0)));
  bool unaligned = false;
  Result<AllocatedTensors> result = allocate(layout, type, unaligned);
  const auto too_large = [&](Bytes size) { return size + layout.alignment > type.max_size().value_or(kMaxBytes); };
  if (result || !unaligned || std::none_of(layout.sizes.begin(), layout.sizes.end(), too_large)) return result;
  // Bases turned out unaligned, and buffers that are full to the limit have no room to align them.
  STOWAGE_TRY(const Layout smaller, lay_out(tensors, type, options, layout.alignment));
  return allocate(smaller, type, unaligned);
}

Result<AllocatedTensors> allocate_all(std::span<const Tensor> tensors, Device& device,
                                      const AllocateAllOptions& options) {
  return allocate_all(tensors, device.buffer_type(), options);
}

Result<std::vector<Bytes>> allocate_all_sizes(std::span<const Tensor> tensors, const BufferType& type,
                                              const AllocateAllOptions& options) {
  STOWAGE_TRY(Layout layout, lay_out(tensors, type, options, Bytes(0)));
  return std::move(layout.sizes);
}

}  // namespace stowage
