#pragma once

#include <memory>
#include <vector>

#include "stowage/memory.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage::runtime {

/// One range of addresses with memory behind all of it: pages of a pool in a reserved range, or a buffer. Goes back as
/// a whole; whoever lets it go sees to it that no work uses it. The source must outlive it.
class PlannedRange {
 public:
  struct Source {
    Device* device = nullptr;
    PhysicalPool* pool = nullptr;  ///< Null: a buffer.
    Bytes alignment{1};            ///< Of the base.
  };

  /// Fails as the device does, and leaves nothing behind.
  static Result<std::unique_ptr<PlannedRange>> take(const Source& source, Bytes size);
  ~PlannedRange();
  PlannedRange(const PlannedRange&) = delete;
  PlannedRange& operator=(const PlannedRange&) = delete;

  /// At the end the addresses stay mapped, for ever: for a device that cannot say whether work still uses them. The
  /// pages go back and the device keeps them as long as they are mapped.
  void leave_mapped() { leave_mapped_ = true; }

  [[nodiscard]] std::byte* base() const { return base_; }
  /// What the device gave for it.
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
  std::vector<Page> pages_;  ///< One after the other from the start of what is reserved.
  std::unique_ptr<Buffer> buffer_;
  bool leave_mapped_ = false;
};

}  // namespace stowage::runtime
