#include "support/judges/program_run/machine.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace stowage::testing {
namespace {

/// Where tests read and write.
constexpr StreamId kOwnStream{31};
constexpr std::size_t kFirstEnd = 32;

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

bool overlap(const SimRange& a, const SimRange& b) {
  return a.address < b.address + b.size.value() && b.address < a.address + a.size.value();
}

/// Finds work that is done before earlier work, although both access the same bytes and one of them writes.
class Races {
 public:
  std::size_t submitted(std::string name, std::vector<SimRange> reads, std::vector<SimRange> writes) {
    items_.push_back({std::move(name), std::move(reads), std::move(writes)});
    return items_.size() - 1;
  }

  void done(std::size_t number) {
    Item& item = items_[number];
    for (std::size_t earlier = first_; earlier < number; ++earlier) {
      const Item& other = items_[earlier];
      if (!other.done &&
          (meet(item.writes, other.writes) || meet(item.writes, other.reads) || meet(item.reads, other.writes)))
        findings_.push_back(item.name + " is done before " + other.name + ", which accesses the same bytes");
    }
    item.done = true;
    while (first_ < items_.size() && items_[first_].done) ++first_;
  }

  [[nodiscard]] const std::vector<std::string>& findings() const { return findings_; }

 private:
  struct Item {
    std::string name;
    std::vector<SimRange> reads;
    std::vector<SimRange> writes;
    bool done = false;
  };
  static bool meet(const std::vector<SimRange>& a, const std::vector<SimRange>& b) {
    return std::any_of(a.begin(), a.end(), [&](const SimRange& x) {
      return std::any_of(b.begin(), b.end(), [&](const SimRange& y) { return overlap(x, y); });
    });
  }

  std::vector<Item> items_;
  std::size_t first_ = 0;  ///< The first that is not done.
  std::vector<std::string> findings_;
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
    const bool marked = std::exchange(marked_, false);
    const std::optional<std::size_t> body = std::exchange(at_end_of_, std::nullopt);
    if (size == Bytes(0) || (!pace_.strict && !marked)) return sim_.copy(stream, to, from, size);
    const SimRange source{const_cast<std::byte*>(from), size};
    const std::size_t number = races_.submitted("a copy", {source}, {{to, size}});
    const std::function<void()> check = body && check_end_ ? check_end_(ScopeId(*body)) : [] {};
    const auto compute = [this, marked, number, check](auto inputs, auto outputs) {
      races_.done(number);
      check();
      outputs[0] = inputs[0];
      if (!marked) return;
      if (pace_.marked.seen) pace_.marked.seen(inputs[0] == inputs[1]);
      for (std::byte& byte : outputs[0]) byte ^= std::byte(pace_.marked.spoilt ? 0xff : 0);
    };
    return sim_.launch_kernel(stream, {{source, {to, size}}, {{to, size}}, compute});
  }
  Status fill(StreamId stream, std::byte* to, std::uint8_t value, Bytes size) override {
    if (!pace_.strict) return sim_.fill(stream, to, value, size);
    const std::size_t number = races_.submitted("a fill", {}, {{to, size}});
    const auto compute = [this, number, value](auto, auto outputs) {
      races_.done(number);
      std::fill(outputs[0].begin(), outputs[0].end(), std::byte{value});
    };
    return sim_.launch_kernel(stream, {{}, {{to, size}}, compute});
  }
  Result<EventId> record(StreamId stream) override {
    marked_ = marked_ || stream == kMarkStream;
    if (stream.index() >= kFirstEnd) at_end_of_ = stream.index() - kFirstEnd;
    return sim_.record(stream);
  }
  Status wait(StreamId stream, EventId event) override { return sim_.wait(stream, event); }
  Result<bool> is_complete(EventId event) override { return sim_.is_complete(event); }
  void forget(EventId event) override { sim_.forget(event); }

  Status synchronize(StreamId stream) override {
    if (stream != side_) STOWAGE_TRY_STATUS(sim_.synchronize(StreamId(pace_.first_stream)));
    return sim_.synchronize(stream);
  }

  [[nodiscard]] Races& races() { return races_; }
  [[nodiscard]] const Races& races() const { return races_; }
  void watch_ends(std::function<std::function<void()>(ScopeId)> check) { check_end_ = std::move(check); }

 private:
  SimDevice& sim_;
  SimPace pace_;
  StreamId side_;
  bool marked_ = false;                   ///< The next copy is.
  std::optional<std::size_t> at_end_of_;  ///< The body at whose end the next copy is.
  std::function<std::function<void()>(ScopeId)> check_end_;
  Races races_;
};

class SimMachine final : public Machine {
 public:
  SimMachine(SimDevice& sim, const SimPace& pace, StreamId side)
      : sim_(sim), device_(sim, pace, side), strict_(pace.strict), seed_(pace.seed), random_(pace.seed.value_or(0)) {}

  [[nodiscard]] Device& device() override { return device_; }

  Status launch(const OpWork& work, std::function<void(std::uint64_t)> done) override {
    SimKernel kernel;
    for (const OpWork::Part& part : work.reads) kernel.inputs.push_back(range(part));
    for (const OpWork::Part& part : work.writes) kernel.outputs.push_back(range(part));
    std::size_t number_of_work = 0;
    if (strict_) {
      std::vector<SimRange> writes = kernel.outputs;
      for (const OpWork::Part& part : work.touches) writes.push_back(range(part));
      number_of_work = device_.races().submitted("an op", kernel.inputs, std::move(writes));
    }
    kernel.compute = [this, number_of_work, work, done = std::move(done)](
                         std::span<const std::vector<std::byte>> inputs, std::span<std::vector<std::byte>> outputs) {
      if (strict_) device_.races().done(number_of_work);
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

  bool watch_ends(std::function<std::function<void()>(ScopeId)> check) override {
    device_.watch_ends(std::move(check));
    return strict_;
  }
  [[nodiscard]] std::vector<std::string> findings() const override { return device_.races().findings(); }

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
  bool strict_;
  std::optional<std::uint64_t> seed_;
  std::mt19937_64 random_;
};

}  // namespace

std::unique_ptr<Machine> make_cpu_machine() { return std::make_unique<CpuMachine>(); }

std::unique_ptr<Machine> make_sim_machine(SimDevice& sim, const SimPace& pace, StreamId side_stream) {
  return std::make_unique<SimMachine>(sim, pace, side_stream);
}

}  // namespace stowage::testing
