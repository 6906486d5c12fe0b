#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/interface/interval_map.hpp"
#include "stowage/graph.hpp"
#include "verify/claims.hpp"

namespace stowage::verification {

/// Who wrote bytes that several values share.
struct Rewrite {
  OpId op;
  TensorId tensor;  ///< The one that was written.
};

/// By value: the bytes that it has lost because a value that shares them was written. Most values never appear here.
///
/// Paths are handled as in `State`: `enter` begins one, `leave` undoes its changes and returns them, and after `join` a
/// byte is lost if it is lost at the end of any of the paths.
class Rewrites {
 public:
  /// Ranges without an entry, or with an empty one, are intact.
  using Lost = IntervalMap<std::optional<Rewrite>>;
  /// The state, at the end of a path, of the values that changed on it.
  using Changes = std::map<HolderId, Lost>;

  void lose(HolderId value, ByteRange bytes, const Rewrite& by) { change(value).assign(bytes, by); }
  /// The value has these bytes again: it was written itself, or made anew.
  void renew(HolderId value, ByteRange bytes) {
    if (lost_.contains(value)) change(value).assign(bytes, std::nullopt);
  }
  void forget(HolderId value) {
    if (lost_.contains(value)) change(value) = {};
  }
  /// Calls `f(ByteRange, const Rewrite&)` for the lost bytes of the range, in ascending order.
  template <class F>
  void visit(HolderId value, ByteRange bytes, F&& f) const {
    const auto found = lost_.find(value);
    if (found == lost_.end()) return;
    found->second.visit(bytes, [&](ByteRange part, const std::optional<Rewrite>& by) {
      if (by) f(part, *by);
    });
  }

  void enter() { before_.emplace_back(); }
  Changes leave();
  void join(std::span<const Changes* const> paths);

 private:
  Lost& change(HolderId value);

  Changes lost_;
  std::vector<Changes> before_;  ///< By path that was entered: the values that have changed, as they were before.
};

}  // namespace stowage::verification
