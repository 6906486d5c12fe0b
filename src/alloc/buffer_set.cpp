#include "alloc/buffer_set.hpp"

namespace stowage::alloc {

Result<RegionBuffers> BufferSet::provide(std::span<const Need> needs) {
  bool grows = false;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (Status prepared = types_[i].prepare(needs[i]); !prepared) {
      for (std::size_t done = 0; done < i; ++done) types_[done].roll_back();
      return std::move(prepared).error();
    }
    grows = grows || types_[i].grows();
  }
  RegionBuffers result;
  for (std::size_t i = 0; i < types_.size(); ++i) result.push_back(types_[i].commit(needs[i]));
  if (grows) {
    ++growths_;
    ++version_;
  }
  return result;
}

Status BufferSet::trim(const RegionBuffers& chunks, const std::vector<std::vector<Bytes>>& ends, Bytes& returned) {
  ++version_;
  for (std::size_t i = 0; i < types_.size(); ++i) STOWAGE_TRY_STATUS(types_[i].trim(chunks[i], ends[i], returned));
  return Done{};
}

std::uint64_t BufferSet::buffers_made() const {
  std::uint64_t sum = 0;
  for (const ChunkList& type : types_) sum += type.buffers_made();
  return sum;
}

void BufferSet::reset() const {
  for (const ChunkList& type : types_) {
    for (std::size_t chunk = 0; chunk < type.size(); ++chunk) type[chunk].reset();
  }
}

}  // namespace stowage::alloc
