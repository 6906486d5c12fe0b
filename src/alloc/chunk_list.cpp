#include "alloc/chunk_list.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "alloc/interface/aligned_buffer.hpp"

namespace stowage::alloc {
namespace {

/// The numbers [0, count) in order of decreasing `size(number)`; among equals, the lower number first.
template <class Size>
std::vector<std::size_t> by_size(std::size_t count, Size&& size) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Bytes size_a = size(a);
    const Bytes size_b = size(b);
    return size_a != size_b ? size_a > size_b : a < b;
  });
  return order;
}

}  // namespace

bool ChunkList::fits(const Chunk& chunk, Bytes top, Bytes alignment) {
  return top == Bytes(0) || room_in(*chunk.buffer, alignment) >= top;
}

std::vector<std::size_t> ChunkList::assign(const Need& need) const {
  std::vector<std::size_t> own(need.tops.size());
  std::iota(own.begin(), own.end(), std::size_t{0});
  if (source_ || content_ == Content::kept) return own;
  bool in_order = !chunks_.empty();
  for (std::size_t& chunk : own) {
    const Bytes top = need.tops[chunk];
    if (top == Bytes(0) && chunk >= chunks_.size()) chunk = 0;  // an empty region needs no new chunk
    in_order = in_order && chunk < chunks_.size() && fits(chunks_[chunk], top, need.alignment);
  }
  return in_order ? own : assign_by_size(need);
}

std::vector<std::size_t> ChunkList::assign_by_size(const Need& need) const {
  const std::vector<std::size_t> regions =
      by_size(need.tops.size(), [&](std::size_t region) { return need.tops[region]; });
  const std::vector<std::size_t> chunks =
      by_size(chunks_.size(), [&](std::size_t chunk) { return room_in(*chunks_[chunk].buffer, need.alignment); });
  std::vector<std::size_t> result(need.tops.size());
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const bool empty = need.tops[regions[i]] == Bytes(0);
    const std::size_t next = empty ? 0 : i;
    result[regions[i]] = i < chunks.size() ? chunks[i] : next;
  }
  return result;
}

Need ChunkList::with_what_is_kept(Need need) const {
  if (content_ == Content::lost) return need;
  need.alignment = std::max(need.alignment, alignment_);
  need.tops.resize(std::max(need.tops.size(), chunks_.size()));
  for (std::size_t c = 0; c < chunks_.size(); ++c) need.tops[c] = std::max(need.tops[c], chunks_[c].need);
  return need;
}

bool ChunkList::serves(const Chunk& chunk, Bytes top, Bytes alignment) const {
  const bool stays = content_ == Content::lost || top == Bytes(0) ||
                     gap_before(*chunk.buffer, alignment) == gap_before(*chunk.buffer, alignment_);
  return stays && fits(chunk, top, alignment);
}

Status ChunkList::prepare(const Need& asked) {
  const Need need = with_what_is_kept(asked);
  assignment_ = assign(need);
  next_ = std::vector<Chunk>(std::max(chunks_.size(), 1 + *std::max_element(assignment_.begin(), assignment_.end())));
  sizes_before_.clear();
  for (const Chunk& chunk : chunks_) sizes_before_.push_back(chunk.buffer->size());
  grows_ = false;
  for (std::size_t region = 0; region < need.tops.size(); ++region) {
    const std::size_t chunk = assignment_[region];
    const Bytes top = need.tops[region];
    if (chunk < chunks_.size() && serves(chunks_[chunk], top, need.alignment)) continue;
    if (top == Bytes(0) && next_[chunk].buffer) continue;  // another region of this call already made it
    grows_ = true;
    Status taken = prepare_chunk(chunk, top, need.alignment);
    if (taken) continue;
    roll_back();
    return taken;
  }
  return Done{};
}

Status ChunkList::prepare_buffer(std::size_t chunk, Bytes top, Bytes alignment) {
  Bytes size = top;
  if (chunk < chunks_.size()) {
    size = std::max(size, chunks_[chunk].need);
    alignment = std::max(alignment, chunks_[chunk].alignment);
  }
  if (pinned_ && chunk < chunks_.size() && chunks_[chunk].need > Bytes(0)) {
    return Error{
        ErrorCode::invalid,
        fmt::format("{}: {} bytes of session memory must keep their address, and now {} are needed: reserve the "
                    "graph that needs most of it first",
                    type_.name(), chunks_[chunk].need.value(), size.value()),
        {}};
  }
  STOWAGE_TRY(next_[chunk].buffer, make_buffer(size, alignment));
  if (content_ == Content::kept && chunk < chunks_.size()) return move_content(chunk, alignment);
  return Done{};
}

Status ChunkList::move_content(std::size_t chunk, Bytes alignment) {
  const Buffer& old = *chunks_[chunk].buffer;
  Buffer& next = *next_[chunk].buffer;
  std::vector<std::byte> bytes(static_cast<std::size_t>(chunks_[chunk].need.value()));
  STOWAGE_TRY_STATUS(old.read(gap_before(old, alignment_), bytes));
  return next.write(gap_before(next, alignment), bytes);
}

Result<std::unique_ptr<Buffer>> ChunkList::make_buffer(Bytes size, Bytes alignment) {
  bool unaligned = false;
  Result<std::unique_ptr<Buffer>> buffer = allocate_aligned(type_, size, alignment, unaligned);
  if (unaligned && size + alignment > type_.max_size().value_or(kMaxBytes)) {
    lost_to_alignment_ = std::max(lost_to_alignment_, alignment);
  }
  if (buffer) ++buffers_made_;
  return buffer;
}

Status ChunkList::prepare_chunk(std::size_t chunk, Bytes top, Bytes alignment) {
  VirtualBuffer* const pages = chunk < chunks_.size() ? chunks_[chunk].pages : reserve_chunk(chunk);
  if (pages == nullptr) return prepare_buffer(chunk, top, alignment);
  if (content_ == Content::kept && gap_at(pages->range(), alignment) != gap_at(pages->range(), alignment_)) {
    return Error{
        ErrorCode::invalid,
        fmt::format("{}: session memory cannot move to an address aligned to {}", type_.name(), alignment.value()),
        {}};
  }
  return pages->grow(gap_at(pages->range(), alignment) + top);
}

VirtualBuffer* ChunkList::reserve_chunk(std::size_t chunk) {
  if (!source_) return nullptr;
  Result<std::unique_ptr<VirtualBuffer>> made = VirtualBuffer::make(type_, *source_);
  if (!made) {
    if (chunks_.empty() && chunk == 0) source_.reset();
    return nullptr;
  }
  ++buffers_made_;
  VirtualBuffer* const pages = made->get();
  next_[chunk].pages = pages;
  next_[chunk].buffer = std::move(*made);
  return pages;
}

std::vector<Buffer*> ChunkList::commit(const Need& need) {
  chunks_.resize(next_.size());
  for (std::size_t c = 0; c < next_.size(); ++c) {
    if (!next_[c].buffer) continue;
    chunks_[c].buffer = std::move(next_[c].buffer);
    chunks_[c].pages = next_[c].pages;
  }
  std::vector<Buffer*> result;
  alignment_ = std::max(alignment_, need.alignment);
  for (std::size_t region = 0; region < assignment_.size(); ++region) {
    Chunk& chunk = chunks_[assignment_[region]];
    if (region < need.tops.size()) chunk.need = std::max(chunk.need, need.tops[region]);
    chunk.alignment = std::max(chunk.alignment, need.alignment);
    result.push_back(chunk.buffer.get());
  }
  next_.clear();
  return result;
}

void ChunkList::roll_back() {
  next_.clear();
  for (std::size_t c = 0; c < sizes_before_.size(); ++c) {
    // Pages that cannot be removed now stay; later plans can use them.
    if (chunks_[c].pages != nullptr && !chunks_[c].pages->shrink(sizes_before_[c])) continue;
  }
}

Status ChunkList::trim(std::span<Buffer* const> chunks, std::span<const Bytes> ends, Bytes& returned) {
  if (content_ == Content::kept) return Done{};
  const auto end_in = [&](const Chunk& chunk) {
    Bytes end(-1);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (chunks[i] == chunk.buffer.get()) end = ends[i];
    }
    return end;
  };
  const Bytes before = bytes();
  Status status = Done{};
  for (Chunk& chunk : chunks_) {
    if (chunk.pages == nullptr || !status) continue;
    status = chunk.pages->shrink(std::max(Bytes(0), end_in(chunk)));
    chunk.need = Bytes(0);
  }
  if (!source_) std::erase_if(chunks_, [&](const Chunk& chunk) { return end_in(chunk) < Bytes(0); });
  const auto is_spare = [&](const Chunk& chunk) { return chunk.pages == nullptr && end_in(chunk) < Bytes(0); };
  while (source_ && chunks_.size() > 1 && is_spare(chunks_.back())) chunks_.pop_back();
  returned += before - bytes();
  return status;
}

std::optional<Bytes> ChunkList::limit() const {
  const std::optional<Bytes> largest = type_.max_size();
  if (!largest) return std::nullopt;
  return std::max(Bytes(1), *largest - lost_to_alignment_);
}

Bytes ChunkList::bytes() const {
  Bytes sum;
  for (const Chunk& chunk : chunks_) sum += chunk.buffer->size();
  return sum;
}

}  // namespace stowage::alloc
