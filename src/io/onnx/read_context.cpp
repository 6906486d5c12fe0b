#include "io/onnx/read_context.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stowage::io::onnx {

Error ReadContext::fault_at(const std::string& file, ErrorCode code, const std::string& message) const {
  std::string path;
  for (const Level& level : levels_) {
    if (!path.empty()) path += '.';
    path += level.field;
    if (level.index != kNoIndex) path += fmt::format("[{}]", level.index);
  }
  const auto named =
      std::find_if(levels_.rbegin(), levels_.rend(), [](const Level& level) { return !level.subject.empty(); });
  const std::string text = named == levels_.rend() ? message : fmt::format("{}: {}", named->subject, message);
  return Error{code, text, {.file = file, .line = {}, .path = std::move(path)}};
}

}  // namespace stowage::io::onnx
