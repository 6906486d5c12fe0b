#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage::verification {

/// Before every op.
inline constexpr Step kStart{-1};

/// Which task ops happen before which: forward vector clocks.
///
/// Ops of one stream happen in order; so do ops linked by `after`, and an op happens after the latest earlier producer of what it
/// reads, of what that is a view of, and of what a producer without a task aliases it to. Ops without a task order nothing.
///
/// The clock of an op says for each stream how far that stream is known to be when the op starts. One row an op, merged from the
/// rows of its direct predecessors, in execution order: O(ops × streams) memory, nothing at all for a single stream. Streams are
/// numbered by their first task op, so that unused ids cost nothing.
class Order {
 public:
  explicit Order(const Graph& graph);

  [[nodiscard]] std::size_t streams() const { return streams_; }
  /// Precondition for this and `seen`: `op` is a task op.
  [[nodiscard]] std::size_t stream(Step op) const { return streams_ == 1 ? 0 : stream_of_[index(op)]; }
  /// The last op of `stream` that happens before `op`, or kStart.
  [[nodiscard]] Step seen(Step op, std::size_t stream) const {
    return streams_ == 1 ? op - Step(1) : clocks_[index(op) * streams_ + stream];
  }

 private:
  static std::size_t index(Step op) { return static_cast<std::size_t>(op.value()); }

  void number_streams(const Graph& graph);
  void run_clocks(const Graph& graph);
  /// Op `later` happens after `earlier`, and so after all that happened before that.
  void follow(std::size_t later, std::size_t earlier);

  std::size_t streams_ = 0;
  std::vector<std::uint32_t> stream_of_;  ///< By op.
  std::vector<Step> clocks_;              ///< Row-major, op × stream.
};

}  // namespace stowage::verification
