#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "stowage/alloc/run.hpp"

namespace stowage {

/// Ranges of addresses, each with a number; finds those that overlap a range.
class AddressRanges {
 public:
  void add(const std::byte* address, Bytes size, std::uint32_t number);
  /// Must be called between the last `add` and the first `visit`.
  void sort();
  /// Calls `f(number)` for each range with a byte of [address, address + size).
  template <class F>
  void visit(const std::byte* address, Bytes size, F&& f) const;

 private:
  struct Entry {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::uint32_t number = 0;
    std::uintptr_t reach = 0;  ///< The largest end so far.
  };
  std::vector<Entry> entries_;  ///< Ascending by `begin`.
};

/// Knows what a run has to wait for when somebody must see the inputs of an op with bodies: an event behind each step
/// that wrote a byte of them, and nothing else.
///
/// Steps and inputs are matched by address, so that values may come from anywhere: an op in a body, a copy, an
/// iteration before. Whatever else wrote these bytes earlier is over when they are written again, so that waiting for
/// its event too costs nothing. Only steps that write such bytes are followed by an event; a graph in which nobody is
/// asked has none. Packed ops write nothing.
class AnswerSources {
 public:
  /// `loops`: whether loops ask too, besides branches. All must outlive this object. O(accesses × log accesses) for
  /// graphs with such ops.
  AnswerSources(const Graph& graph, const Allocation& allocation, Device& device, bool loops);

  /// To be called when a step of the program, by position, was submitted.
  Status submitted(std::size_t step, StreamId stream);
  /// The events to be waited for before the host may see the inputs of the call. Valid until the next step.
  [[nodiscard]] const std::vector<EventId>& find(const OpCall& call);
  /// Forgets all events.
  void forget();

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  [[nodiscard]] bool asks(OpId op) const;
  void collect_inputs(AddressRanges& asked) const;
  void collect_writes(const AddressRanges& asked);
  void add_write(const AddressRanges& asked, std::size_t step, const std::byte* address, Bytes size);

  const Graph& graph_;
  const Allocation& allocation_;
  Device& device_;
  bool loops_;
  std::vector<std::uint32_t> number_;  ///< By step: its place in `events_`, or `kNone`. Empty if nobody is asked.
  AddressRanges writes_;               ///< With these numbers.
  std::vector<std::optional<EventId>> events_;
  std::vector<bool> taken_;  ///< By number.
  std::vector<EventId> found_;
};

}  // namespace stowage
