#pragma once

#include <memory>
#include <vector>

#include "stowage/memory.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage::runtime {

/// The device memory of a session: one range that grows by pages at its end, or a list of buffers. Not thread-safe.
/// Callers that remove memory make sure that no work uses it.
class SessionMemory {
 public:
  struct Source {
    Device* device = nullptr;
    PhysicalPool* pool = nullptr;  ///< Null: buffers.
    Bytes address_space;
    Bytes alignment{1};
  };
  /// A range of addresses that is backed by memory throughout.
  struct Extent {
    std::byte* base = nullptr;  ///< Aligned.
    Bytes size;
  };

  explicit SessionMemory(const Source& source) : source_(source) {}
  ~SessionMemory();
  SessionMemory(const SessionMemory&) = delete;
  SessionMemory& operator=(const SessionMemory&) = delete;

  /// Tries once to reserve addresses, which decides whether pages or buffers are used. A refusal is final, and is not
  /// an error.
  void settle();
  [[nodiscard]] bool has_pages() const { return reserved_ != nullptr; }

  /// With pages: grows the only extent to at least that size. All or nothing.
  Status grow(Bytes size);
  /// Without pages: adds an extent at the end of the list.
  Status add(Bytes size);
  /// Removes whole pages from the end as long as at least `size` bytes remain. Returns the number of bytes removed.
  Bytes shrink(Bytes size);
  /// Removes a buffer; later ones move up in the list. Returns the number of bytes removed.
  Bytes remove(std::size_t extent);

  /// From now on, destruction leaks all memory deliberately.
  void leave() { leave_ = true; }

  [[nodiscard]] const std::vector<Extent>& extents() const { return extents_; }
  [[nodiscard]] Bytes reserved() const;

 private:
  Status add_page(Bytes size);

  Source source_;
  bool settled_ = false;
  bool leave_ = false;
  std::byte* reserved_ = nullptr;
  std::vector<Page> pages_;
  std::vector<std::unique_ptr<Buffer>> buffers_;  ///< One per extent.
  std::vector<Extent> extents_;
};

}  // namespace stowage::runtime
