#if __has_include(<sys/sysinfo.h>)
#include <sys/sysinfo.h>
#endif

#include <utility>

#include <fmt/format.h>

#include "memory/cpu/cpu.hpp"
#include "memory/interface/errors.hpp"

namespace stowage {
namespace memory {
namespace {

/// No system has larger pages, so no alignment needs to be larger; allocators become unreliable beyond that.
constexpr Bytes kMaxAlignment{std::int64_t{1} << 30};

class CpuBufferType final : public BufferType {
 public:
  CpuBufferType(std::string name, const CpuBufferOptions& options) : name_(std::move(name)), options_(options) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] DeviceId device() const override { return kHost; }
  [[nodiscard]] Bytes alignment() const override { return options_.alignment; }
  [[nodiscard]] std::optional<Bytes> max_size() const override { return options_.max_size; }
  [[nodiscard]] bool host_visible() const override { return true; }

  Result<std::unique_ptr<Buffer>> allocate(Bytes size) override {
    STOWAGE_TRY_STATUS(check_buffer_size(name_, size, options_.max_size));
    if (size == Bytes(0)) return std::unique_ptr<Buffer>(std::make_unique<HostBuffer>(*this, std::span<std::byte>{}));
    if (size > machine_memory()) {
      return out_of_memory(name_, size, fmt::format("the machine has {} bytes", machine_memory().value()));
    }
    std::unique_ptr<Buffer> buffer = options_.map_pages ? allocate_mapped(*this, size) : allocate_heap(*this, size);
    if (buffer == nullptr) return out_of_memory(name_, size, "the system has no memory left");
    return buffer;
  }

 private:
  std::string name_;
  CpuBufferOptions options_;
};

}  // namespace

Bytes machine_memory() {
#if __has_include(<sys/sysinfo.h>)
  struct sysinfo machine = {};
  if (sysinfo(&machine) == 0) {
    return Bytes(static_cast<std::int64_t>((machine.totalram + machine.totalswap) * machine.mem_unit));
  }
#endif
  return kMaxBytes;
}

}  // namespace memory

Result<std::unique_ptr<BufferType>> make_cpu_buffer_type(std::string name, const CpuBufferOptions& options) {
  if (!is_power_of_two(options.alignment) || options.alignment > memory::kMaxAlignment) {
    return Error{ErrorCode::invalid,
                 fmt::format("{}: an alignment of {} is not a power of two up to {}", name, options.alignment.value(),
                             memory::kMaxAlignment.value()),
                 {}};
  }
  if (options.max_size && *options.max_size <= Bytes(0)) {
    return Error{ErrorCode::invalid,
                 fmt::format("{}: the maximum buffer size cannot be {} bytes", name, options.max_size->value()),
                 {}};
  }
  return std::unique_ptr<BufferType>(std::make_unique<memory::CpuBufferType>(std::move(name), options));
}

}  // namespace stowage
