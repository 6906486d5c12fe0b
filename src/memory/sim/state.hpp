#pragma once

#include <map>
#include <mutex>

#include "memory/page_table.hpp"
#include "memory/sim/call_script.hpp"
#include "memory/sim/streams.hpp"

namespace stowage::memory {

/// What nobody has written yet: not zero, so that whoever relies on zeros is found out.
inline constexpr std::uint8_t kUnwritten = 0xa5;

/// What the parts of a simulated device (buffers, virtual memory, streams) share. Everything but `options` under
/// `mutex`, which the functions of the parts take first; those here expect it taken.
struct SimState {
  explicit SimState(SimOptions given);

  /// Counts a call and fails it where the script says so: for lack of memory, or of the device.
  [[nodiscard]] Status enter(SimCall call, Bytes size = {});
  /// `invalid`, with a line in `violations`.
  Error refuse(std::string message);
  /// A check's error, with a line in `violations`.
  Status judge(std::string_view what, Status status);
  /// Takes bytes from the memory of the device.
  [[nodiscard]] Status take(Bytes size);
  void give_back(Bytes size) { in_use -= size; }

  /// The refusal of an id or address, which says so when it is another device's.
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
