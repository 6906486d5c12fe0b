#include <algorithm>

#include <sys/mman.h>
#include <unistd.h>

#include "memory/cpu/cpu.hpp"
#include "memory/integers.hpp"

namespace stowage::memory {
namespace {

/// The huge page size of most systems. Where huge pages are larger, the advice has no effect but does no harm.
constexpr Bytes kHugePage{std::int64_t{2} << 20};

Bytes page_size() { return Bytes(sysconf(_SC_PAGESIZE)); }

void unmap(std::byte* from, std::byte* to) {
  if (from < to) munmap(from, static_cast<std::size_t>(to - from));
}

class MappedBuffer final : public HostBuffer {
 public:
  using HostBuffer::HostBuffer;
  ~MappedBuffer() override { munmap(base(), to_size_t(align_up(size(), page_size()))); }
};

/// Maps whole pages at a multiple of `alignment`. The system guarantees only its own page size, so this maps more than
/// needed and unmaps both ends. Null when there is no memory left.
std::byte* map_aligned(Bytes size, Bytes alignment) {
  const Bytes slack = alignment - page_size();
  void* const mapped =
      mmap(nullptr, to_size_t(size + slack), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::uintptr_t misfit = to_uintptr(begin) & (to_size_t(alignment) - 1);
  std::byte* const base = misfit == 0 ? begin : begin + (to_size_t(alignment) - misfit);
  unmap(begin, base);
  unmap(base + size.value(), begin + (size + slack).value());
  return base;
}

}  // namespace

std::unique_ptr<Buffer> allocate_mapped(const BufferType& type, Bytes size) {
  const Bytes whole = align_up(size, page_size());
  const bool huge = whole >= kHugePage;
  std::byte* const base = map_aligned(whole, std::max({type.alignment(), page_size(), huge ? kHugePage : page_size()}));
  if (base == nullptr) return nullptr;
#ifdef MADV_HUGEPAGE
  if (huge) madvise(base, to_size_t(whole), MADV_HUGEPAGE);  // advice: systems without huge pages ignore it
#endif
  return std::make_unique<MappedBuffer>(type, std::span(base, to_size_t(size)));
}

}  // namespace stowage::memory
