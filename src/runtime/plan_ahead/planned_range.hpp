#pragma once

#include <memory>
#include <vector>

#include "stowage/memory.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage::runtime {

/// One range of addresses that is backed by memory throughout: pages of a pool in a reserved range, or a buffer. It is
/// released as a whole; the owner makes sure that no work uses it by then. The source must outlive it.
class PlannedRange {
 public:
  struct Source {
    Device* device = nullptr;
    PhysicalPool* pool = nullptr;  ///< Null: a buffer.
    Bytes alignment{1};            ///< Of the base.
  };

  /// Fails as the device does; then nothing remains allocated.
  static Result<std::unique_ptr<PlannedRange>> take(const Source& source, Bytes size);
  ~PlannedRange();
  PlannedRange(const PlannedRange&) = delete;
  PlannedRange& operator=(const PlannedRange&) = delete;

  /// After this call the destructor leaves the addresses mapped for ever, for a device that cannot say whether work
  /// still uses them. The pages go back to the pool, but the device keeps their memory as long as they are mapped.
  void leave_mapped() { leave_mapped_ = true; }

  [[nodiscard]] std::byte* base() const { return base_; }
  /// Total size of the device memory.
  [[nodiscard]] Bytes size() const { return size_; }
  [[nodiscard]] std::uint64_t maps() const { return pages_.size(); }

 private:
  explicit PlannedRange(const Source& source);
  Status take_pages(Bytes size);
  Status take_buffer(Bytes size);
  Status add_page(Bytes size);

  Source source_;
  std::byte* base_ = nullptr;
  Bytes size_;
  std::byte* reserved_ = nullptr;
  Bytes reserved_size_;
  std::vector<Page> pages_;  ///< One after the other from the start of the reserved range.
  std::unique_ptr<Buffer> buffer_;
  bool leave_mapped_ = false;
};

}  // namespace stowage::runtime
