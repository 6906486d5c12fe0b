#include "gpu/program_machine.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/shadow_kernels.hpp"
#include "memory/interface/cuda_compute.hpp"

namespace stowage::testing {
namespace {

/// Where tests read and write.
constexpr StreamId kOwnStream{31};
constexpr std::size_t kSlots = 1 << 16;

class GpuMachine final : public Machine {
 public:
  explicit GpuMachine(CudaDevice& device) : device_(device) {}

  Status begin() {
    STOWAGE_TRY(module_, computing(device_).load(kShadowPtx));
    STOWAGE_TRY(hash_, module_->kernel("hash_bytes"));
    STOWAGE_TRY(write_, module_->kernel("write_bytes"));
    STOWAGE_TRY(slots_, device_.buffer_type().allocate(Bytes(8 * kSlots)));
    return Done{};
  }

  [[nodiscard]] Device& device() override { return device_; }

  /// The number of the op grows in a slot: first its seed, then what it reads.
  Status launch(const OpWork& work, std::function<void(std::uint64_t)> done) override {
    STOWAGE_CHECK(waiting_.size() < kSlots, "a run has more ops than there are slots");
    std::byte* const slot = slots_->base() + 8 * waiting_.size();
    waiting_.push_back({work.seed, std::move(done)});
    STOWAGE_TRY_STATUS(
        device_.copy(work.stream, slot, reinterpret_cast<const std::byte*>(&waiting_.back().seed), Bytes(8)));
    for (const OpWork::Part& part : work.reads) STOWAGE_TRY_STATUS(launch(hash_, part, slot, work.stream));
    for (const OpWork::Part& part : work.writes) STOWAGE_TRY_STATUS(launch(write_, part, slot, work.stream));
    return Done{};
  }

  Status check() override {
    std::vector<std::uint64_t> numbers(waiting_.size());
    STOWAGE_TRY_STATUS(slots_->read(Bytes(0), std::as_writable_bytes(std::span(numbers))));
    for (std::size_t i = 0; i < numbers.size(); ++i) waiting_[i].done(numbers[i]);
    waiting_.clear();
    return Done{};
  }

  void write(std::byte* to, std::span<const std::byte> from) override { copy(to, from.data(), from.size()); }
  void read(std::span<std::byte> to, const std::byte* from) override { copy(to.data(), from, to.size()); }

 private:
  struct Waiting {
    std::uint64_t seed;
    std::function<void(std::uint64_t)> done;
  };

  void copy(std::byte* to, const std::byte* from, std::size_t size) {
    const bool done = device_.copy(kOwnStream, to, from, Bytes(static_cast<std::int64_t>(size))).has_value() &&
                      device_.synchronize(kOwnStream).has_value();
    STOWAGE_CHECK(done, "a test cannot read or write");
  }

  Status launch(const std::optional<CudaKernel>& kernel, const OpWork::Part& part, std::byte* slot, StreamId stream) {
    std::byte* address = part.address;
    std::uint64_t count = part.size;
    std::uint64_t salt = part.salt;
    const std::array<void*, 4> arguments = {&address, &count, &slot, &salt};
    const auto blocks = static_cast<unsigned>(std::clamp<std::size_t>((part.size + 1023) / 1024, 1, 264));
    return computing(device_).launch(stream, *kernel, {.blocks = {blocks, 1, 1}, .threads = {256, 1, 1}}, arguments);
  }

  CudaDevice& device_;
  std::unique_ptr<CudaModule> module_;
  std::optional<CudaKernel> hash_;
  std::optional<CudaKernel> write_;
  std::unique_ptr<Buffer> slots_;
  std::deque<Waiting> waiting_;  ///< The ops of the run so far; addresses stay.
};

}  // namespace

Result<std::unique_ptr<Machine>> make_gpu_machine(CudaDevice& device) {
  auto machine = std::make_unique<GpuMachine>(device);
  STOWAGE_TRY_STATUS(machine->begin());
  return std::unique_ptr<Machine>(std::move(machine));
}

}  // namespace stowage::testing
