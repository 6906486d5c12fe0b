/// Virtual memory of the host: the pages of one memfd file are mapped into reserved address ranges.
///
/// All physical memory lies in one file, because one file per allocation would reach the limit of open files (often
/// 1024) long before memory runs out. `FreeList` tracks which bytes of the file are in use. Released bytes are punched
/// out of the file, which returns their pages to the system and makes them read as zero when they are reused. Pages are
/// allocated on first touch, like those of the heap. Calling `fallocate` at creation would not help: on a machine
/// without memory it does not fail either, the process is killed. After fork, the child shares the pages with its
/// parent. It may use the memory that it inherited, but it can neither allocate nor release any: every call fails
/// there.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/cpu/cpu.hpp"

#ifdef MFD_CLOEXEC

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/interface/free_list.hpp"
#include "memory/integers.hpp"
#include "memory/interface/errors.hpp"
#include "memory/page_table.hpp"

namespace stowage::memory {
namespace {

constexpr std::string_view kName = "cpu virtual memory";

Error system_error(std::string_view what, Bytes size) {
  if (errno == ENOMEM) return out_of_memory(kName, size, fmt::format("{}: {}", what, std::strerror(errno)));
  return {
      ErrorCode::device, fmt::format("{}: {} of {} bytes: {}", kName, what, size.value(), std::strerror(errno)), {}};
}

/// Reserves addresses: nothing else can be mapped there by accident, and touching them is a fault.
void* reserve_at(void* address, Bytes size, int flags) {
  return mmap(address, to_size_t(size), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

class MemfdMemory final : public VirtualMemory {
 public:
  explicit MemfdMemory(int file)
      : file_(file), process_(getpid()), table_(Bytes(sysconf(_SC_PAGESIZE)), PhysicalId{1}) {}
  ~MemfdMemory() override { close(file_); }

  [[nodiscard]] DeviceId device() const override { return kHost; }
  [[nodiscard]] Bytes granularity() const override { return table_.granularity(); }

  Result<std::byte*> reserve(Bytes size) override {
    const std::lock_guard lock(mutex_);
    STOWAGE_TRY_STATUS(check_process());
    STOWAGE_TRY_STATUS(table_.check_size(size));
    void* const address = reserve_at(nullptr, size, 0);
    if (address == MAP_FAILED) return system_error("reserve", size);
    table_.reserve(static_cast<std::byte*>(address), size);
    return static_cast<std::byte*>(address);
  }

  Status free(std::byte* address, Bytes size) override {
    const std::lock_guard lock(mutex_);
    STOWAGE_TRY_STATUS(check_process());
    STOWAGE_TRY_STATUS(table_.check_free(address, size));
    if (munmap(address, to_size_t(size)) != 0) return system_error("free", size);
    table_.free(address);
    return Done{};
  }

  Result<PhysicalId> create(Bytes size) override {
    const std::lock_guard lock(mutex_);
    STOWAGE_TRY_STATUS(check_process());
    STOWAGE_TRY_STATUS(table_.check_size(size));
    if (size > machine_memory() - in_use_) {
      return out_of_memory(
          kName, size,
          fmt::format("{} bytes are in use, and the machine has {} bytes", in_use_.value(), machine_memory().value()));
    }
    const Bytes offset = space_.allocate(size, granularity());
    const ByteRange home{offset, offset + size};
    if (home.upper > file_size_ && ftruncate(file_, home.upper.value()) != 0) {
      const Error error = system_error("create", size);
      space_.release(home);
      return error;
    }
    file_size_ = std::max(file_size_, home.upper);
    in_use_ += size;
    const PhysicalId id = table_.create(size);
    homes_.emplace(id, home);
    return id;
  }

  Status release(PhysicalId physical) override {
    const std::lock_guard lock(mutex_);
    STOWAGE_TRY_STATUS(check_process());
    STOWAGE_TRY_STATUS(table_.check_release(physical));
    if (table_.release(physical)) give_back(physical);
    return Done{};
  }

  Status map(std::byte* address, PhysicalId physical, Bytes offset, Bytes size) override {
    const std::lock_guard lock(mutex_);
    STOWAGE_TRY_STATUS(check_process());
    STOWAGE_TRY_STATUS(table_.check_map(address, physical, offset, size));
    const off_t from = (homes_.find(physical)->second.lower + offset).value();
    if (mmap(address, to_size_t(size), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, from) == MAP_FAILED) {
      return system_error("map", size);
    }
    table_.map(address, physical, size);
    return Done{};
  }

  Status map_all(std::byte* address, std::span<const PhysicalRange> ranges) override {
    {
      const std::lock_guard lock(mutex_);
      STOWAGE_TRY_STATUS(table_.check_map_all(address, ranges));
    }
    return VirtualMemory::map_all(address, ranges);
  }

  Status unmap(std::byte* address, Bytes size) override {
    const std::lock_guard lock(mutex_);
    STOWAGE_TRY_STATUS(check_process());
    STOWAGE_TRY_STATUS(table_.check_unmap(address, size));
    if (reserve_at(address, size, MAP_FIXED) == MAP_FAILED) return system_error("unmap", size);
    for (const PhysicalId gone : table_.unmap(address, size)) give_back(gone);
    return Done{};
  }

 private:
  [[nodiscard]] Status check_process() const {
    if (getpid() == process_) return Done{};
    return Error{ErrorCode::device,
                 fmt::format("{}: it belongs to the parent process and cannot be used after fork", kName),
                 {}};
  }

  void give_back(PhysicalId physical) {
    const auto home = homes_.find(physical);
    const ByteRange range = home->second;
    homes_.erase(home);
    in_use_ -= range.length();
    // If punching fails, the bytes keep their content, so they are never reused.
    if (fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, range.lower.value(), range.length().value()) ==
        0) {
      space_.release(range);
    }
  }

  const int file_;
  const pid_t process_;
  std::mutex mutex_;
  PageTable table_;
  FreeList space_;
  std::map<PhysicalId, ByteRange> homes_;  ///< The bytes of the file.
  Bytes file_size_;
  Bytes in_use_;
};

}  // namespace

std::unique_ptr<VirtualMemory> make_memfd_memory() {
  const int file = memfd_create("stowage", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  return std::make_unique<MemfdMemory>(file);
}

}  // namespace stowage::memory

#else

namespace stowage::memory {

std::unique_ptr<VirtualMemory> make_memfd_memory() { return nullptr; }

}  // namespace stowage::memory

#endif
