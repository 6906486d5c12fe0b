#pragma once

#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
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
  /// `check` gives, when copies at the end of a body are submitted, what is to be called when they are made. Returns
  /// whether this machine can do that: a record on stream 32 + the number of the body must be the step in front.
  virtual bool watch_ends(std::function<std::function<void()>(ScopeId body)> /*check*/) { return false; }
  /// Of all runs so far.
  [[nodiscard]] virtual std::vector<std::string> findings() const { return {}; }

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
  /// Whether it is a finding if work is done before earlier work that accesses the same bytes, and one of the two
  /// writes them; and if copies at the end of a body are made before the work in it is over.
  bool strict = false;
  /// Of the copies that come right after a record on `kMarkStream`.
  struct Marked {
    std::function<void(bool were_there)> seen = {};  ///< Called when one is made: whether its bytes were there before.
    bool spoilt = false;                             ///< They copy wrong bytes.
  } marked = {};
};

inline constexpr StreamId kMarkStream{30};

/// A device on which work stays pending until somebody waits for it. `sim` must outlive it. `side_stream` is the one
/// on which a run waits for single values.
[[nodiscard]] std::unique_ptr<Machine> make_sim_machine(SimDevice& sim, const SimPace& pace, StreamId side_stream);

}  // namespace stowage::testing
