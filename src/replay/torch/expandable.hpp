#pragma once

#include <map>
#include <memory>
#include <vector>

#include "replay/torch/model.hpp"

namespace stowage::replaying {

/// PyTorch's `expandable_segments:True`: each pool has a range of addresses into which memory is mapped as needed, at
/// the lowest unmapped address, in pages of 2 MiB for small requests and 20 MiB for others. Blocks are split if at
/// least 512 bytes remain. In the search, a block followed by unmapped addresses counts with the size to which it could
/// grow. Pages are returned only when PyTorch runs out of memory or is told to return them.
class TorchExpandableModel final : public TorchModel {
 public:
  /// Fails with `unsupported` if the device has no virtual memory.
  static Result<std::unique_ptr<Allocator>> make(Device& device);
  ~TorchExpandableModel() override;

  [[nodiscard]] Bytes alignment() const override { return kRounding; }

 private:
  /// A range of addresses and its mapped pages, by their index in the range.
  struct Segment {
    std::byte* address = nullptr;
    Bytes size;
    Bytes page;
    std::map<std::size_t, PhysicalId> pages = {};
  };

  TorchExpandableModel(Device& device, VirtualMemory& pages) : TorchModel(device), pages_(pages) {}

  Result<TorchBlock*> grow(TorchPool& pool, Bytes size) override;
  std::set<TorchBlock*, TorchBySize>::iterator find(TorchPool& pool, Bytes size) override;
  [[nodiscard]] bool splits(const TorchPool&, Bytes rest) const override { return rest >= kRounding; }
  void release(TorchPool& pool) override;

  [[nodiscard]] Bytes page_of(const TorchPool& pool) const;
  Result<TorchBlock*> room_for(TorchPool& pool, Bytes size);
  Result<TorchBlock*> add_segment(TorchPool& pool, Bytes size);
  Segment& segment_at(const std::byte* address);
  Status map_block(TorchBlock& block, Bytes size);
  Status map_pages(Segment& segment, std::size_t first, std::size_t last);
  Status map_page(Segment& segment, std::size_t place);
  /// Returns false if the device fails; then the page stays.
  bool unmap_page(Segment& segment, std::size_t place);
  void unmap_block(TorchBlock& block);

  VirtualMemory& pages_;
  std::map<const std::byte*, Segment> segments_;  ///< By address.
};

}  // namespace stowage::replaying
