#pragma once

#include <map>
#include <mutex>

#include "memory/page_table.hpp"
#include "memory/sim/call_script.hpp"
#include "memory/sim/streams.hpp"

namespace stowage::memory {

/// The content of new memory. Not zero, so that tests expose code that relies on zeros.
inline constexpr std::uint8_t kUnwritten = 0xa5;

/// The state that the parts of a simulated device (buffers, virtual memory, streams) share. `mutex` guards everything
/// except `options`: the parts lock it, and the functions here expect it locked.
struct SimState {
  explicit SimState(SimOptions given);

  /// Counts a call. When the script says that it fails, returns `out_of_memory` for calls that take memory and `device`
  /// for others.
  [[nodiscard]] Status enter(SimCall call, Bytes size = {});
  /// An `invalid` error, which is also recorded in `violations`.
  Error refuse(std::string message);
  /// Passes a check's status on; an error is also recorded in `violations`.
  Status judge(std::string_view what, Status status);
  /// Takes bytes from the memory of the device.
  [[nodiscard]] Status take(Bytes size);
  void give_back(Bytes size) { in_use -= size; }

  /// The error for an unknown id or address. Says so if it belongs to another device.
  Error refuse_foreign(std::string_view what, std::uint64_t id);
  Error refuse_foreign(std::string_view what, const std::byte* address);

  const SimOptions options;
  mutable std::mutex mutex;
  SimCallScript script;
  SimAddressSpace addresses;
  SimStreams streams;
  PageTable pages;
  std::map<PhysicalId, std::shared_ptr<SparseBytes>> physicals;
  std::map<EventId, std::shared_ptr<SimEvent>> events;
  std::uint64_t next_event;
  std::size_t buffers = 0;
  Bytes in_use;
  Bytes peak;
  std::vector<std::string> violations;
};

std::unique_ptr<BufferType> make_sim_buffer_type(SimState& state);
std::unique_ptr<VirtualMemory> make_sim_virtual_memory(SimState& state);

}  // namespace stowage::memory
