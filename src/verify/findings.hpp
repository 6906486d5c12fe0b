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

/// Collects findings up to a limit, and formats none beyond it.
class Findings {
 public:
  /// A limit of 0 counts as 1: no findings means that the plan is right.
  explicit Findings(std::size_t limit) : limit_(limit == 0 ? 1 : limit) {}

  template <class... Args>
  void add(Rule rule, fmt::format_string<Args...> format, Args&&... args) {
    if (!full()) found_.push_back({rule, fmt::format(format, std::forward<Args>(args)...)});
  }

  [[nodiscard]] bool full() const { return found_.size() >= limit_; }
  [[nodiscard]] std::vector<Finding> take() { return std::move(found_); }

 private:
  std::size_t limit_;
  std::vector<Finding> found_;
};

struct WorkspaceId {
  OpId op;
  std::uint32_t index;
};

/// What a plan gives a place: a tensor or a workspace.
using Subject = std::variant<TensorId, WorkspaceId>;

/// "tensor 'q' (12)", "workspace 0 of op 'conv' (7)". Precondition: the subject exists.
[[nodiscard]] std::string describe(const Graph& graph, const Subject& subject);

/// "step 7 (op 'mul' (7))", or a word for a step that no op has.
[[nodiscard]] std::string describe(const Graph& graph, Step step);

/// "[0, 4096)".
[[nodiscard]] std::string describe(ByteRange bytes);

}  // namespace stowage::verification
