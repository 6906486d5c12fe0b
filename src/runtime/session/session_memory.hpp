#pragma once

#include <memory>
#include <vector>

#include "stowage/memory.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage::runtime {

/// What a session has of the device: one range that grows by pages at its end, or buffers that are added. Not
/// thread-safe. Whoever takes something away sees to it that no work uses it.
class SessionMemory {
 public:
  struct Source {
    Device* device = nullptr;
    PhysicalPool* pool = nullptr;  ///< Null: buffers.
    Bytes address_space;
    Bytes alignment{1};
  };
  /// Addresses with memory behind all of them.
  struct Extent {
    std::byte* base = nullptr;  ///< Aligned.
    Bytes size;
  };

  explicit SessionMemory(const Source& source) : source_(source) {}
  ~SessionMemory();
  SessionMemory(const SessionMemory&) = delete;
  SessionMemory& operator=(const SessionMemory&) = delete;

  /// Reserves addresses, once. From then on it is known whether there are pages; a refusal is for good, and no failure.
  void settle();
  [[nodiscard]] bool has_pages() const { return reserved_ != nullptr; }

  /// With pages: makes the one extent at least that large. All or nothing, except for pages that cannot be taken away
  /// again.
  Status grow(Bytes size);
  /// Without: a new extent at the end of the list.
  Status add(Bytes size);
  /// Takes whole pages away as long as `size` bytes remain. Says how much went.
  Bytes shrink(Bytes size);
  /// Takes a buffer away; those behind it move up in the list.
  Bytes remove(std::size_t extent);

  /// At the end everything stays where it is, for ever.
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
  std::vector<std::unique_ptr<Buffer>> buffers_;  ///< One an extent.
  std::vector<Extent> extents_;
};

}  // namespace stowage::runtime
