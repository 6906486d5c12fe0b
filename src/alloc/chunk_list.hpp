#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "alloc/virtual_buffer.hpp"
#include "stowage/memory.hpp"

namespace stowage::alloc {

/// What one plan asks of one type.
struct Need {
  std::vector<Bytes> tops;  ///< By region; at least one.
  Bytes alignment{1};       ///< Of the address where each region starts.
};

/// The buffers of one type: enough, and large enough, for the regions of every plan that asked, one plan at a time.
///
/// Which region lies in which chunk: each in the chunk of its own number while that is large enough, else the largest
/// in the largest, and so on; if any assignment fits, that one does. So two plans with the same sizes in another order
/// share the same chunks, and what fitted once fits again after others have grown. With virtual memory each chunk grows
/// where it is, and the first way is the only one.
///
/// Growth has two halves, so that several lists grow together or not at all: `prepare` takes all the memory, and either
/// `commit` replaces the old by the new or `roll_back` gives the new back. Not thread-safe.
class ChunkList {
 public:
  /// Without a source: plain buffers.
  ChunkList(BufferType& type, std::optional<VirtualSource> source) : type_(type), source_(source) {}

  /// Takes what is missing for `need`. Fails with `out_of_memory`; then, and until `commit`, everything is as it was,
  /// except that chunks with virtual memory may already have more pages.
  Status prepare(const Need& need);
  /// The chunks for the regions of `need`, by region. Old buffers go. Precondition: `prepare(need)` succeeded.
  std::vector<Buffer*> commit(const Need& need);
  void roll_back();
  /// Whether `prepare` took something.
  [[nodiscard]] bool grows() const { return grows_; }

  /// Returns what is not needed by regions that end at `ends` in these chunks; at least one chunk stays. Adds to
  /// `returned`.
  Status trim(std::span<Buffer* const> chunks, std::span<const Bytes> ends, Bytes& returned);

  [[nodiscard]] BufferType& type() const { return type_; }
  /// The largest region that a chunk can hold: the type's largest size, less what is lost to bases that turned out
  /// unaligned.
  [[nodiscard]] std::optional<Bytes> limit() const;
  [[nodiscard]] std::size_t size() const { return chunks_.size(); }
  [[nodiscard]] Buffer& operator[](std::size_t chunk) const { return *chunks_[chunk].buffer; }
  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] std::uint64_t buffers_made() const { return buffers_made_; }

 private:
  struct Chunk {
    std::unique_ptr<Buffer> buffer;
    VirtualBuffer* pages = nullptr;  ///< The same, if it has virtual memory.
    // The most that plans asked of it. Another plan's buffer must do for them too.
    Bytes need = {};
    Bytes alignment{1};
  };

  [[nodiscard]] static bool fits(const Chunk& chunk, Bytes top, Bytes alignment);
  /// By region the number of a chunk, maybe of one that is not there yet.
  [[nodiscard]] std::vector<std::size_t> assign(const Need& need) const;
  [[nodiscard]] std::vector<std::size_t> assign_by_size(const Need& need) const;
  Status prepare_plain(std::size_t chunk, Bytes top, Bytes alignment);
  Status prepare_pages(std::size_t chunk, Bytes top, Bytes alignment);
  Result<std::unique_ptr<Buffer>> make_plain(Bytes size, Bytes alignment);

  BufferType& type_;
  std::optional<VirtualSource> source_;
  std::vector<Chunk> chunks_;
  Bytes lost_to_alignment_;
  std::uint64_t buffers_made_ = 0;

  // Between prepare and commit.
  std::vector<std::size_t> assignment_;  ///< By region.
  std::vector<Chunk> next_;              ///< By chunk; without a buffer: the old one stays.
  std::vector<Bytes> sizes_before_;      ///< By chunk, with virtual memory.
  bool grows_ = false;
};

}  // namespace stowage::alloc
