#include "alloc/buffer_set.hpp"

namespace stowage::alloc {

Result<RegionBuffers> BufferSet::provide(std::span<const Need> needs) {
  bool grows = false;
  const auto is_asked = [&](std::size_t i) { return !needs[i].tops.empty(); };
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    if (!is_asked(i)) continue;
    if (Status prepared = lists_[i].prepare(needs[i]); !prepared) {
      for (std::size_t done = 0; done < i; ++done) {
        if (is_asked(done)) lists_[done].roll_back();
      }
      return std::move(prepared).error();
    }
    grows = grows || lists_[i].grows();
  }
  RegionBuffers result;
  for (std::size_t i = 0; i < lists_.size(); ++i)
    result.push_back(is_asked(i) ? lists_[i].commit(needs[i]) : std::vector<Buffer*>{});
  if (grows) {
    ++growths_;
    ++version_;
  }
  return result;
}

Status BufferSet::trim(const RegionBuffers& chunks, const std::vector<std::vector<Bytes>>& ends, Bytes& returned) {
  ++version_;
  for (std::size_t i = 0; i < lists_.size(); ++i) STOWAGE_TRY_STATUS(lists_[i].trim(chunks[i], ends[i], returned));
  return Done{};
}

std::uint64_t BufferSet::buffers_made() const {
  std::uint64_t sum = 0;
  for (const ChunkList& list : lists_) sum += list.buffers_made();
  return sum;
}

void BufferSet::reset(std::size_t lists) const {
  for (std::size_t i = 0; i < lists; ++i) {
    for (std::size_t chunk = 0; chunk < lists_[i].size(); ++chunk) lists_[i][chunk].reset();
  }
}

}  // namespace stowage::alloc
