#pragma once

#include <memory>
#include <unordered_map>

#include "replay/torch/model.hpp"

namespace stowage::replaying {

/// PyTorch's default mode: segments are buffers of 2 MiB for small requests, 20 MiB for those below 10 MiB, and of the
/// request rounded up to 2 MiB above. A block is split where 512 bytes are left in a small segment or more than 1 MiB
/// in another. A segment goes back only when all of it is idle.
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

  std::unordered_map<std::byte*, std::unique_ptr<Buffer>> segments_;  ///< By their first block's address.
};

}  // namespace stowage::replaying
