#pragma once

#include <functional>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "memory/interface/sim_device.hpp"
#include "stowage/memory.hpp"
#include "support/judges/program_run/work.hpp"

namespace stowage::testing {

/// A device that can do the work of test ops.
class Machine {
 public:
  virtual ~Machine() = default;

  [[nodiscard]] virtual Device& device() = 0;
  /// Submits the work. When it is done, `done` gets the op's number, at once or at the latest when `check` is called.
  virtual Status launch(const OpWork& work, std::function<void(std::uint64_t)> done) = 0;
  /// After a run, when all work is complete.
  virtual Status check() { return Done{}; }
  /// Called after each op: work may go on.
  virtual void advance() {}

  // At once, without regard to pending work, which must not use these bytes.
  virtual void write(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void read(std::span<std::byte> to, const std::byte* from) = 0;
};

/// The host.
[[nodiscard]] std::unique_ptr<Machine> make_cpu_machine();

/// What a simulated device does while a run submits work, and when the host waits at the end.
struct SimPace {
  /// The stream whose work is done as early as its waits allow, at the end, before anything else: whatever it fails to
  /// wait for is not done yet.
  std::size_t first_stream = 0;
  /// Some work is done between submissions too, at random.
  std::optional<std::uint64_t> seed = {};
  /// Called when a copy is done that was submitted next after a record on `kMarkStream`: whether the bytes that it
  /// writes were there before.
  std::function<void(bool were_there)> on_marked_copy = {};
};

inline constexpr StreamId kMarkStream{30};

/// A device on which work stays pending until somebody waits for it. `sim` must outlive it. `side_stream` is the one
/// on which a run waits for single values.
[[nodiscard]] std::unique_ptr<Machine> make_sim_machine(SimDevice& sim, const SimPace& pace, StreamId side_stream);

}  // namespace stowage::testing
