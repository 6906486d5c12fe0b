#include <algorithm>

#include <fmt/format.h>

#include "stowage/plan.hpp"

namespace stowage {
namespace {

Error fault(TensorId tensor, std::string what) {
  return Error{ErrorCode::invalid, fmt::format("the buffer for tensor {} {}", tensor.index(), what), {}};
}

Status check_buffer(const Binding& binding, const UserBuffer& buffer) {
  if (buffer.size < binding.size)
    return fault(buffer.tensor,
                 fmt::format("has {} bytes, but the tensor needs {}", buffer.size.value(), binding.size.value()));
  if (buffer.address % static_cast<std::uintptr_t>(binding.alignment.value()) != 0)
    return fault(buffer.tensor, fmt::format("is not at a multiple of {}", binding.alignment.value()));
  return Done{};
}

std::vector<UserBuffer> sorted(std::span<const UserBuffer> buffers) {
  std::vector<UserBuffer> result(buffers.begin(), buffers.end());
  std::sort(result.begin(), result.end(), [](const UserBuffer& a, const UserBuffer& b) { return a.tensor < b.tensor; });
  return result;
}

/// Empty buffers overlap nothing.
Status check_overlaps(std::vector<UserBuffer> buffers) {
  std::erase_if(buffers, [](const UserBuffer& buffer) { return buffer.size <= Bytes(0); });
  std::sort(buffers.begin(), buffers.end(),
            [](const UserBuffer& a, const UserBuffer& b) { return a.address < b.address; });
  for (std::size_t i = 0; i + 1 < buffers.size(); ++i) {
    if (buffers[i + 1].address - buffers[i].address >= static_cast<std::uintptr_t>(buffers[i].size.value())) continue;
    return fault(buffers[i].tensor, fmt::format("overlaps the buffer for tensor {}", buffers[i + 1].tensor.index()));
  }
  return Done{};
}

}  // namespace

Status check_bindings(const Plan& plan, std::span<const UserBuffer> buffers) {
  const std::vector<UserBuffer> given = sorted(buffers);
  std::size_t at = 0;
  for (const Binding& binding : plan.bindings) {
    if (at < given.size() && given[at].tensor < binding.tensor)
      return fault(given[at].tensor, "belongs to no binding of the plan");
    if (at == given.size() || given[at].tensor != binding.tensor) return fault(binding.tensor, "is missing");
    STOWAGE_TRY_STATUS(check_buffer(binding, given[at]));
    ++at;
    if (at < given.size() && given[at].tensor == binding.tensor) return fault(binding.tensor, "is given twice");
  }
  if (at < given.size()) return fault(given[at].tensor, "belongs to no binding of the plan");
  return check_overlaps(given);
}

}  // namespace stowage
