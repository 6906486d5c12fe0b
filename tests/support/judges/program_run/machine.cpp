#include "support/judges/program_run/machine.hpp"

#include <cstring>
#include <limits>
#include <utility>

namespace stowage::testing {
namespace {

/// Where tests read and write.
constexpr StreamId kOwnStream{31};

class CpuMachine final : public Machine {
 public:
  [[nodiscard]] Device& device() override { return cpu_device(); }

  Status launch(const OpWork& work, std::function<void(std::uint64_t)> done) override {
    std::uint64_t number = work.seed;
    for (const OpWork::Part& part : work.reads) number += number_of({part.address, part.size}, part.salt);
    for (const OpWork::Part& part : work.writes) write_bytes({part.address, part.size}, number, part.salt);
    done(number);
    return Done{};
  }

  void write(std::byte* to, std::span<const std::byte> from) override {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
  }
  void read(std::span<std::byte> to, const std::byte* from) override {
    if (!to.empty()) std::memcpy(to.data(), from, to.size());
  }
};

/// Prefers one stream when the host waits at the end.
class PacedDevice final : public Device {
 public:
  PacedDevice(SimDevice& sim, const SimPace& pace, StreamId side) : sim_(sim), pace_(pace), side_(side) {}

  [[nodiscard]] DeviceId id() const override { return sim_.id(); }
  [[nodiscard]] std::string_view name() const override { return sim_.name(); }
  [[nodiscard]] BufferType& buffer_type() override { return sim_.buffer_type(); }
  [[nodiscard]] VirtualMemory* virtual_memory() override { return sim_.virtual_memory(); }
  Status copy(StreamId stream, std::byte* to, const std::byte* from, Bytes size) override {
    if (!std::exchange(marked_, false) || !pace_.on_marked_copy) return sim_.copy(stream, to, from, size);
    const auto compute = [on_copy = pace_.on_marked_copy](auto inputs, auto outputs) {
      on_copy(inputs[0] == inputs[1]);
      outputs[0] = inputs[0];
    };
    return sim_.launch_kernel(stream, {{{const_cast<std::byte*>(from), size}, {to, size}}, {{to, size}}, compute});
  }
  Status fill(StreamId stream, std::byte* to, std::uint8_t value, Bytes size) override {
    return sim_.fill(stream, to, value, size);
  }
  Result<EventId> record(StreamId stream) override {
    marked_ = marked_ || stream == kMarkStream;
    return sim_.record(stream);
  }
  Status wait(StreamId stream, EventId event) override { return sim_.wait(stream, event); }
  Result<bool> is_complete(EventId event) override { return sim_.is_complete(event); }
  void forget(EventId event) override { sim_.forget(event); }

  Status synchronize(StreamId stream) override {
    if (stream != side_) STOWAGE_TRY_STATUS(sim_.synchronize(StreamId(pace_.first_stream)));
    return sim_.synchronize(stream);
  }

 private:
  SimDevice& sim_;
  SimPace pace_;
  StreamId side_;
  bool marked_ = false;
};

class SimMachine final : public Machine {
 public:
  SimMachine(SimDevice& sim, const SimPace& pace, StreamId side)
      : sim_(sim), device_(sim, pace, side), seed_(pace.seed), random_(pace.seed.value_or(0)) {}

  [[nodiscard]] Device& device() override { return device_; }

  Status launch(const OpWork& work, std::function<void(std::uint64_t)> done) override {
    SimKernel kernel;
    for (const OpWork::Part& part : work.reads) kernel.inputs.push_back(range(part));
    for (const OpWork::Part& part : work.writes) kernel.outputs.push_back(range(part));
    kernel.compute = [work, done = std::move(done)](std::span<const std::vector<std::byte>> inputs,
                                                    std::span<std::vector<std::byte>> outputs) {
      std::uint64_t number = work.seed;
      for (std::size_t i = 0; i < inputs.size(); ++i) number += number_of(inputs[i], work.reads[i].salt);
      for (std::size_t i = 0; i < outputs.size(); ++i) write_bytes(outputs[i], number, work.writes[i].salt);
      done(number);
    };
    return sim_.launch_kernel(work.stream, std::move(kernel));
  }

  void advance() override {
    for (std::size_t stream = 0; seed_ && stream < 5; ++stream) sim_.finish(StreamId(stream), random_() % 3);
  }

  void write(std::byte* to, std::span<const std::byte> from) override {
    if (from.empty()) return;
    const auto compute = [from](auto, auto outputs) { outputs[0].assign(from.begin(), from.end()); };
    at_once({{}, {{to, Bytes(static_cast<std::int64_t>(from.size()))}}, compute});
  }
  void read(std::span<std::byte> to, const std::byte* from) override {
    if (to.empty()) return;
    const auto compute = [to](auto inputs, auto) { std::copy(inputs[0].begin(), inputs[0].end(), to.begin()); };
    at_once({{{const_cast<std::byte*>(from), Bytes(static_cast<std::int64_t>(to.size()))}}, {}, compute});
  }

 private:
  static SimRange range(const OpWork::Part& part) {
    return {part.address, Bytes(static_cast<std::int64_t>(part.size))};
  }
  void at_once(SimKernel kernel) {
    STOWAGE_CHECK(sim_.launch_kernel(kOwnStream, std::move(kernel)).has_value(), "a test reads or writes no memory");
    sim_.finish(kOwnStream, std::numeric_limits<std::size_t>::max());
  }

  SimDevice& sim_;
  PacedDevice device_;
  std::optional<std::uint64_t> seed_;
  std::mt19937_64 random_;
};

}  // namespace

std::unique_ptr<Machine> make_cpu_machine() { return std::make_unique<CpuMachine>(); }

std::unique_ptr<Machine> make_sim_machine(SimDevice& sim, const SimPace& pace, StreamId side_stream) {
  return std::make_unique<SimMachine>(sim, pace, side_stream);
}

}  // namespace stowage::testing
