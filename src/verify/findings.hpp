#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "stowage/verify.hpp"

namespace stowage::verification {

/// Collects findings up to a limit; further ones are not even formatted.
class Findings {
 public:
  /// A limit of 0 counts as 1, because no findings means that the plan is right.
  explicit Findings(std::size_t limit) : limit_(limit == 0 ? 1 : limit) {}

  template <class... Args>
  void add(Rule rule, fmt::format_string<Args...> format, Args&&... args) {
    if (!full()) found_.push_back({rule, fmt::format(format, std::forward<Args>(args)...)});
  }

  [[nodiscard]] bool empty() const { return found_.empty(); }
  [[nodiscard]] bool full() const { return found_.size() >= limit_; }
  [[nodiscard]] std::vector<Finding> take() { return std::move(found_); }

 private:
  std::size_t limit_;
  std::vector<Finding> found_;
};

/// Positions in the plan's lists.
struct CopyId {
  std::uint32_t index;
};
struct ClearId {
  std::uint32_t index;
};

/// Something that has bytes in a plan: a tensor, a workspace, the result of a copy for one op, or what a clear fills.
using Subject = std::variant<TensorId, WorkspaceId, CopyId, ClearId>;

/// "tensor 'q' (12)", "workspace 0 of op 'conv' (7)", "copy 2 of the plan", "clear 0 of the plan". Precondition: the
/// subject exists.
[[nodiscard]] std::string describe(const Graph& graph, const Subject& subject);

/// "step 7 (op 'mul' (7))".
[[nodiscard]] std::string describe_step(const Graph& graph, OpId op);

/// "[0, 4096)".
[[nodiscard]] std::string describe(ByteRange bytes);

/// "arena 'cpu' (0)". Precondition: it exists.
[[nodiscard]] std::string describe(const Plan& plan, ArenaId id);

}  // namespace stowage::verification
