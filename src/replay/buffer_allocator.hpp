#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "replay/account.hpp"
#include "stowage/runtime/allocator.hpp"

namespace stowage::replaying {

/// Every allocation is a separate buffer, and a free waits for the streams that use it. This is the cost of asking the
/// device each time; the other allocators are compared with it. For one thread. The device must outlive it.
class BufferAllocator final : public Allocator {
 public:
  explicit BufferAllocator(Device& device) : device_(device) {}

  [[nodiscard]] DeviceId device() const override { return device_.id(); }
  [[nodiscard]] Bytes alignment() const override { return device_.buffer_type().alignment(); }

  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;
  Status record_use(std::byte* address, StreamId stream) override;
  Bytes trim() override { return Bytes(0); }

  [[nodiscard]] AllocatorStats stats() const override { return account_.stats(); }
  void reset_peaks() override { account_.reset_peaks(); }
  [[nodiscard]] MemorySnapshot snapshot() const override;

 private:
  struct Live {
    std::unique_ptr<Buffer> buffer;
    Bytes requested;
    StreamId stream;
    std::vector<StreamId> uses = {};  ///< By other streams.
  };

  void wait_for(StreamId stream);

  Device& device_;
  std::unordered_map<std::byte*, Live> live_;
  Account account_;
};

}  // namespace stowage::replaying
