#include "io/onnx/unknown_sizes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stowage/base/printable.hpp"

namespace stowage::io::onnx {
namespace {

constexpr std::size_t kListed = 10;

}  // namespace

void UnknownSizes::add(const std::string& name, const ValueFacts& facts) {
  const auto [cause, is_new] = cause_at_.try_emplace({facts.stopped_by, facts.reason}, causes_.size());
  if (is_new) causes_.push_back({facts.stopped_by, facts.reason});
  ++causes_[cause->second].values;
  if (++count_ > kListed) return;
  const std::string at = facts.stopped_by.empty() ? std::string() : fmt::format(" at {}", facts.stopped_by);
  first_.push_back(fmt::format("\n  '{}'{}: {}", printable(name), at, facts.reason));
}

Error UnknownSizes::error(const std::string& file, const std::string& options) const {
  std::string text = count_ == 1 ? std::string("the size of 1 tensor is unknown:")
                                 : fmt::format("the sizes of {} tensors are unknown:", count_);
  text += fmt::format("{}", fmt::join(first_, ""));
  if (count_ > kListed) text += fmt::format("\n  and {} more", count_ - kListed);
  if (!options.empty())
    text += fmt::format("\nThe file leaves sizes of inputs open; these options give them: {}", options);
  return Error{ErrorCode::unsupported, std::move(text), {.file = file, .line = {}, .path = {}}};
}

}  // namespace stowage::io::onnx
