#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "alloc/virtual_buffer.hpp"
#include "stowage/memory.hpp"

namespace stowage::alloc {

/// What one plan needs from one type.
struct Need {
  std::vector<Bytes> tops;  ///< By region; at least one.
  Bytes alignment{1};       ///< Of the address where each region starts.
};

/// What becomes of the bytes in buffers that are replaced by larger ones.
enum class Content : std::uint8_t {
  lost,
  /// They are moved. Region i always lies in chunk i, and begins at an address with the largest alignment that any plan
  /// asked for, so that all plans see the same bytes at the same offset.
  kept,
};

/// The buffers of one type: enough of them, and large enough, for the regions of every plan that asked, one plan at a
/// time.
///
/// Which region lies in which chunk: region i lies in chunk i if all of them fit that way; otherwise the largest region
/// lies in the largest chunk, and so on. If any assignment fits, that one does. So two plans with the same sizes in a
/// different order share the same chunks, and a plan that fitted once fits again after other plans have grown the
/// chunks. With virtual memory each chunk grows in place, and region i always lies in chunk i. Where no addresses can
/// be reserved for a new chunk, it is an ordinary buffer; if that was the first one, all chunks are.
///
/// Growth has two phases, so that several lists grow together or not at all: `prepare` takes all the memory, then
/// either `commit` replaces the old buffers or `roll_back` frees the new ones. Not thread-safe.
class ChunkList {
 public:
  /// Without a source: ordinary buffers of the type.
  ChunkList(BufferType& type, std::optional<VirtualSource> source, Content content = Content::lost)
      : type_(type), source_(source), content_(content) {}

  /// Takes the memory that is missing for `need`. Fails with `out_of_memory`. On failure, and until `commit`, nothing
  /// changes, except that chunks with virtual memory may already have more pages.
  Status prepare(const Need& need);
  /// The chunks for the regions of `need`, by region. Buffers that were replaced are freed. Precondition:
  /// `prepare(need)` succeeded.
  std::vector<Buffer*> commit(const Need& need);
  void roll_back();
  /// Whether `prepare` took any memory.
  [[nodiscard]] bool grows() const { return grows_; }

  /// From now on no chunk moves: `prepare` fails with `invalid` where one would have to.
  void pin() { pinned_ = true; }
  [[nodiscard]] Content content() const { return content_; }
  /// Of the address where each region starts, if content is kept.
  [[nodiscard]] Bytes alignment() const { return alignment_; }

  /// Frees what is not needed by regions in these chunks that end at `ends`; at least one chunk stays. Adds the freed
  /// bytes to `returned`. Does nothing where content is kept.
  Status trim(std::span<Buffer* const> chunks, std::span<const Bytes> ends, Bytes& returned);

  [[nodiscard]] BufferType& type() const { return type_; }
  /// The largest region that a chunk can hold: the type's largest size minus what is lost to bases that turned out
  /// unaligned.
  [[nodiscard]] std::optional<Bytes> limit() const;
  [[nodiscard]] std::size_t size() const { return chunks_.size(); }
  [[nodiscard]] Buffer& operator[](std::size_t chunk) const { return *chunks_[chunk].buffer; }
  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] std::uint64_t buffers_made() const { return buffers_made_; }

 private:
  struct Chunk {
    std::unique_ptr<Buffer> buffer;
    VirtualBuffer* pages = nullptr;  ///< The same buffer, if it has virtual memory.
    // The most that any plan needed of it. A buffer that replaces this one must satisfy that too.
    Bytes need = {};
    Bytes alignment{1};
  };

  [[nodiscard]] Need with_what_is_kept(Need need) const;
  /// Whether the chunk can stay as it is.
  [[nodiscard]] bool serves(const Chunk& chunk, Bytes top, Bytes alignment) const;
  [[nodiscard]] static bool fits(const Chunk& chunk, Bytes top, Bytes alignment);
  /// By region: the number of a chunk, which may not exist yet.
  [[nodiscard]] std::vector<std::size_t> assign(const Need& need) const;
  [[nodiscard]] std::vector<std::size_t> assign_by_size(const Need& need) const;
  Status prepare_buffer(std::size_t chunk, Bytes top, Bytes alignment);
  Status prepare_chunk(std::size_t chunk, Bytes top, Bytes alignment);
  /// A new, empty chunk with virtual memory; null if no addresses can be reserved.
  VirtualBuffer* reserve_chunk(std::size_t chunk);
  Result<std::unique_ptr<Buffer>> make_buffer(Bytes size, Bytes alignment);
  /// Moves what is kept from a chunk to the buffer that is to replace it.
  Status move_content(std::size_t chunk, Bytes alignment);

  BufferType& type_;
  std::optional<VirtualSource> source_;  ///< Absent: all chunks are ordinary buffers.
  Content content_;
  bool pinned_ = false;
  Bytes alignment_{1};  ///< The largest that was asked for.
  std::vector<Chunk> chunks_;
  Bytes lost_to_alignment_;
  std::uint64_t buffers_made_ = 0;

  // Between prepare and commit.
  std::vector<std::size_t> assignment_;  ///< By region.
  std::vector<Chunk> next_;              ///< By chunk; without a buffer: the old one stays.
  std::vector<Bytes> sizes_before_;      ///< By chunk, for those with virtual memory.
  bool grows_ = false;
};

}  // namespace stowage::alloc
