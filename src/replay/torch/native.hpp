#pragma once

#include <memory>
#include <unordered_map>

#include "replay/torch/model.hpp"

namespace stowage::replaying {

/// PyTorch's default mode. A segment is a buffer of 2 MiB for small requests, of 20 MiB for those below 10 MiB, and
/// else of the request's size rounded up to 2 MiB. A block is split if at least 512 bytes remain in a small segment, or
/// more than 1 MiB in another. A segment is returned only if all of it is idle.
class TorchNativeModel final : public TorchModel {
 public:
  explicit TorchNativeModel(Device& device) : TorchModel(device) {}
  ~TorchNativeModel() override;

  [[nodiscard]] Bytes alignment() const override;

 private:
  Result<TorchBlock*> grow(TorchPool& pool, Bytes size) override;
  std::set<TorchBlock*, TorchBySize>::iterator find(TorchPool& pool, Bytes size) override {
    return best_fit(pool, size);
  }
  [[nodiscard]] bool splits(const TorchPool& pool, Bytes rest) const override;
  void release(TorchPool& pool) override;

  std::unordered_map<std::byte*, std::unique_ptr<Buffer>> segments_;  ///< By the address of their first block.
};

}  // namespace stowage::replaying
